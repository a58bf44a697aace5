#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs a command and prints its exit status last, so that one pattern can ask for output and status.
"$@"
echo "exit status $?"
