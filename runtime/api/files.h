// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Standard streams and files of a program that runs on several ranks. */
#ifndef CF_FILES_H
#define CF_FILES_H

/* Replaces stdin by one whose reads are collective. Before the program has read anything. */
void cf_files_share_stdin(void);

#endif
