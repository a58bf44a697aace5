# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mutants: faults put into copies of the runtime's sources, one at a time chosen by COFUSE_MUTANT=number.

Each entry: number, name, file below runtime/, text, the same text with the fault behind {M}. `same`: why the answer
cannot change (an equivalent mutant); `device`: where it can be noticed; an equivalent mutant is built and run all the same, and being caught is then an error, for
either the reason or the runtime is wrong. {M7} in a text is the mutant of that number: texts are replaced in the
order of the table, and one that was replaced before holds the earlier mutant."""

import pathlib
import re
import sys


class Mutant:
    def __init__(self, number, name, file, old, new, same=None, device="cpu"):
        self.number, self.name, self.file, self.old, self.new, self.same = number, name, file, old, new, same
        self.device = device  # where the programs run that should notice


M = Mutant
FUSE, NEST, PEEL, MEMO = "analysis/fuse.c", "analysis/nest.c", "analysis/peel.c", "analysis/memo.c"
EXEC, SECTIONS = "exec/exec.h", "exec/sections.c"
ACCESS, DOMAIN, MOVE, RUN = "ir/access.c", "analysis/domain.c", "exec/move.c", "exec/run.c"
NEED, PARTITION = "exec/need.c", "ir/partition.c"
GUARD, WINDOW, REGISTRY, LAUNCH = "api/guard.c", "api/window.c", "api/registry.c", "api/launch.c"
AGAIN = "api/again.c"
FOLD, BIND = "codegen/assemble_fold.c", "exec/bind.c"
INSTANCE, ON_DEVICE, REDUCE = "exec/instance.c", "exec/run_device.c", "exec/reduce.c"
LANES = "codegen/assemble_red.c"
LAST = "return tiled(&a->part) && cf_partition_equal(&a->part, &b->part) ? CF_CUT_END : rule;"



def D(*mutant):
    return Mutant(*mutant, device="emu")


MUTANTS = [
    # -- fusion constraints
    M(1, "constraint RAW", FUSE, LAST, "if ({M} && rule == CF_CUT_RAW)\n    return CF_CUT_END;\n  " + LAST),
    M(2, "constraint WAR", FUSE, LAST, "if ({M} && rule == CF_CUT_WAR)\n    return CF_CUT_END;\n  " + LAST,
      same="what a task reads is moved to its rank before the group starts, so a neighbour's later write goes to another copy; inside a rank nests keep their order"),
    M(3, "constraint WAW", FUSE, LAST, "if ({M} && rule == CF_CUT_WAW)\n    return CF_CUT_END;\n  " + LAST,
      same="every write of a distributed task goes through the home of its store (cf_domain_decide runs all others "
           "on every rank), so two writes always meet in the same partition"),
    M(4, "reduction, then use", FUSE, "if (ard)\n", "if ({M} && ard)\n    return CF_CUT_END;\n  if (ard)\n"),
    M(5, "reduction, then reduction by another operator", FUSE, "return brd && a->redop == b->redop ?",
      "return brd && ({M} || a->redop == b->redop) ?",
      same="partials are kept per task and combined in program order, whatever their operators"),
    M(6, "write, then reduction", FUSE, "return aw && ti->domain != CF_REPLICATED ? CF_CUT_REDUCTION",
      "return !{M} && aw && ti->domain != CF_REPLICATED ? CF_CUT_REDUCTION",
      same="a reduction's target is a store of one element; its home is None, so whoever writes it is replicated"),
    M(7, "domain: a replicated task reads what a tile wrote", FUSE, "return aw && b->priv & CF_READ ? CF_CUT_DOMAIN",
      "return !{M} && aw && b->priv & CF_READ ? CF_CUT_DOMAIN"),
    M(8, "domain: two local tasks of different tiles", FUSE,
      "return single_owner(ti, ranks) == single_owner(tj, ranks) ?",
      "return {M} || single_owner(ti, ranks) == single_owner(tj, ranks) ?"),
    M(9, "domain: a local task against a distributed one", FUSE,
      "return tiled(home) && cf_partition_equal(&g->part, home) && box_in_tile(st, s, home, ranks)",
      "return {M} || (tiled(home) && cf_partition_equal(&g->part, home) && box_in_tile(st, s, home, ranks))"),
    M(10, "domain: box of a local task in one tile", FUSE, "box_in_tile(st, s, home, ranks))",
      "({M} || box_in_tile(st, s, home, ranks)))"),
    M(11, "domain: partition against a local task", FUSE, "cf_partition_equal(&g->part, home)",
      "({M} || cf_partition_equal(&g->part, home))"),
    M(12, "same touch: box of the access skipped", FUSE,
      "memcmp(a->lo, b->lo, sizeof a->lo) == 0 && memcmp(a->hi, b->hi, sizeof a->hi) == 0 &&",
      "({M} || (memcmp(a->lo, b->lo, sizeof a->lo) == 0 && memcmp(a->hi, b->hi, sizeof a->hi) == 0)) &&"),
    M(13, "same touch: privilege skipped", FUSE, "return a->priv == b->priv &&", "return ({M} || a->priv == b->priv) &&"),
    M(14, "same touch: partition skipped", FUSE, "cf_partition_equal(&a->part, &b->part) &&\n",
      "({M} || cf_partition_equal(&a->part, &b->part)) &&\n",
      same="a write always goes through the home, so this tells two reads apart, whose only constraint is WAR: see 2"),
    M(15, "domain: last row of the box of a local task", FUSE, "cf_partition_owner(home, ext, a->hi[home->dim] - 1, ranks) == p;",
      "({M} || cf_partition_owner(home, ext, a->hi[home->dim] - 1, ranks) == p);"),
    M(16, "same touch: domain skipped", FUSE, "ti->domain == tj->domain && a->at == b->at", "({M} || ti->domain == tj->domain) && a->at == b->at"),
    M(17, "same touch: offset skipped", FUSE, "&& a->at == b->at &&\n", "&& ({M} || a->at == b->at) &&\n"),
    M(18, "same touch: width of the field skipped", FUSE, "a->field_bytes == b->field_bytes && a->whole == b->whole",
      "({M} || a->field_bytes == b->field_bytes) && a->whole == b->whole"),
    M(19, "same touch: lattice skipped", FUSE, "memcmp(a->step, b->step, sizeof a->step) == 0 &&",
      "({M} || memcmp(a->step, b->step, sizeof a->step) == 0) &&"),
    M(200, "same touch: operator skipped", FUSE, "a->redop == b->redop && ({M16}", "({M} || a->redop == b->redop) && ({M16}",
      same="a group never holds reductions of one store by two operators, and other accesses have none"),
    M(201, "same touch: whole skipped", FUSE, "&& a->whole == b->whole &&", "&& ({M} || a->whole == b->whole) &&",
      same="an access that is whole is a read (what writes so runs serially, reductions are always whole), whose only constraint is WAR: see 2"),
    M(202, "same touch: tile of a local task skipped", FUSE, "(ti->domain != CF_SINGLE || cf_itile_equal(",
      "({M} || ti->domain != CF_SINGLE || cf_itile_equal(",
      same="two local tasks that write one row have one tile; for reads there is only WAR: see 2"),
    M(203, "constraints: equal, but no tiles", FUSE, "return tiled(&a->part) && cf_partition_equal(&a->part, &b->part)",
      "return ({M} || tiled(&a->part)) && cf_partition_equal(&a->part, &b->part)",
      same="a write of a distributed task goes through the home of its store, which is a tiling"),
    M(204, "domain: a local task against a store without tiles", FUSE, "(tiled(home) &&", "(({M} || tiled(home)) &&",
      same="whoever writes a store without tiles runs on every rank"),

    # -- boxes
    M(20, "box: a lattice is taken as disjoint", ACCESS, "if (g > 1 && cf_mod(a->map.off[d] - b->map.off[d], g) != 0)",
      "if (g > 1 && ({M} || cf_mod(a->map.off[d] - b->map.off[d], g) != 0))"),
    M(21, "box: no lattice (only costs)", ACCESS, "if (g > 1 && (", "if (!{M} && g > 1 && (",
      same="without the lattice boxes intersect more often: fewer tasks join, more loops run serially"),
    M(22, "box: byte ranges are taken as disjoint", ACCESS,
      "if (a->field + a->field_bytes <= b->field || b->field + b->field_bytes <= a->field)",
      "if ((({M} && a->field != b->field) || a->field + a->field_bytes <= b->field || b->field + b->field_bytes <= a->field))"),
    M(23, "box: no byte ranges (only costs)", ACCESS, "b->field + b->field_bytes <= a->field))",
      "b->field + b->field_bytes <= a->field) && !{M})", same="without byte ranges boxes intersect more often"),
    M(24, "box: clipped one too short", ACCESS, "a->hi[d] = cf_clamp(h0 + 1, 0, s->ext[d]);",
      "a->hi[d] = cf_clamp(h0 + !{M}, 0, s->ext[d]);"),
    M(25, "box: one too short", ACCESS, "a->hi[d] = h0 + 1;", "a->hi[d] = h0 + !({M} && h0 > l0);"),
    M(26, "box: clipping in inner dimensions", ACCESS, "if (!cond || d > 0) {", "if (!cond || (!{M} && d > 0)) {"),
    M(27, "box: conditional access taken from its base", ACCESS, "int64_t from = cond ? base_off : a->at;", "int64_t from = cond && !{M} ? base_off : a->at;",
      same="an access that starts outside is then taken from where it is first made, or for the whole store"),
    M(28, "same iteration: inner loops", ACCESS,
      "int64_t reach = cf_max(cf_abs(diff + bhi - alo), cf_abs(diff + blo - ahi));",
      "int64_t reach = {M} ? cf_abs(diff) : cf_max(cf_abs(diff + bhi - alo), cf_abs(diff + blo - ahi));"),
    M(29, "same iteration: coefficients", ACCESS, "if (a->map.coef[d][l] != b->map.coef[d][l])\n      return false;\n    if (trip",
      "if (!{M} && a->map.coef[d][l] != b->map.coef[d][l])\n      return false;\n    if (trip"),
    M(30, "same iteration: distance", ACCESS, "if (c[i] <= reach)", "if (!{M} && c[i] <= reach)"),
    M(210, "box: iterations that do not make the access, at the start", ACCESS, "int64_t x = c * a->cut[l][0], y = c * (t",
      "int64_t x = c * (a->cut[l][0] + ({M} && a->cut[l][0])), y = c * (t"),
    M(211, "box: iterations that do not make the access, at the end", ACCESS, "y = c * (t - 1 - a->cut[l][1]);",
      "y = c * (t - 1 - a->cut[l][1] - ({M} && a->cut[l][1]));"),
    M(212, "box: all of a row whose end is passed", ACCESS, "      l = 0;\n      h = s->ext[d] - 1;",
      "      l = {M} ? cf_max(l, 0) : 0;\n      h = {M} ? cf_min(h, s->ext[d] - 1) : s->ext[d] - 1;"),
    M(213, "box: the rows next to it", ACCESS, ["down = cf_floor_div(l, s->ext[d]);", "up = cf_floor_div(h, s->ext[d]);"],
      ["down = {M} ? 0 : cf_floor_div(l, s->ext[d]);", "up = {M} ? 0 : cf_floor_div(h, s->ext[d]);"]),
    M(214, "slab: the rows next to it", ACCESS, ["ulo += a->carry[0];", "uhi += a->carry[1];"], ["ulo += {M} ? 0 : a->carry[0];", "uhi += {M} ? 0 : a->carry[1];"]),
    M(215, "slab: wrapped in the tiled dimension", ACCESS, "(a->wrap && dim > 0)", "(!{M} && a->wrap && dim > 0)"),
    M(216, "same iteration: wrapped", ACCESS, "if (a->whole || b->whole || a->wrap || b->wrap)", "if (a->whole || b->whole || (!{M} && (a->wrap || b->wrap)))"),
    M(217, "same element: wrapped", ACCESS, "a->whole || b->whole || a->wrap || b->wrap || a->map.nloops", "a->whole || b->whole || (!{M} && (a->wrap || b->wrap)) || a->map.nloops",
      same="an access with the map of a write, which never leaves its rows, does not leave them either"),
    M(31, "same iteration: loops that no subscript holds", ACCESS, "return (need & ~have) == 0;", "return {M} || (need & ~have) == 0;"),

    # -- domains and partitions
    M(35, "partition: overlapping neighbours", DOMAIN, "if (span >= cf_abs(c))\n    return NONE;", "if (!{M} && span >= cf_abs(c))\n    return NONE;"),
    M(32, "partition: pieces across the end of a tile", DOMAIN, "if (span > 0 && (it->home.grain %", "if (!{M} && span > 0 && (it->home.grain %"),
    M(33, "tile: pieces across its end", DOMAIN, "if (span > 0 && (home->grain %", "if (!{M} && span > 0 && (home->grain %",
      same="the partition of the access asks the same (32), and a write that has none there goes to every rank (37); reads only spread iterations"),
    M(34, "tile: overlapping pieces, falling pieces", DOMAIN, ["  if (span >= cf_abs(c))\n    return false;", "if (c < 0 && span > 0)"],
      ["  if (!{M} && span >= cf_abs(c))\n    return false;", "if (!{M} && c < 0 && span > 0)"],
      same="the partition of the access asks the same (35) or differs from the home (37); reads only spread iterations"),
    M(218, "partition: wrapped", DOMAIN, "a->whole || a->wrap || home->kind", "a->whole || (!{M} && a->wrap) || home->kind"),
    M(36, "partition: offset of the access", DOMAIN, "p.origin += k - it->k;", "p.origin += {M} ? 0 : k - it->k;"),
    M(37, "domain: writes leave the own tile", DOMAIN, "if (!ok) {", "if (!{M} && !ok) {"),
    M(38, "domain: small stores", DOMAIN, "        small_write = true;", "        small_write = !{M};",
      same="a loop of several iterations that writes a store of one element runs serially, and the test of 37 sends what is left to every rank"),
    M(39, "domain: reduction in a local task", DOMAIN, "if (t->domain == CF_SINGLE && reduces)", "if (!{M} && t->domain == CF_SINGLE && reduces)"),

    # -- loop nests
    M(40, "nest: same iteration", NEST, "      if (!same)\n", "      if (!same && !{M})\n"),
    M(41, "nest: reductions", NEST, "if (a->priv & CF_REDUCE || b->priv & CF_REDUCE)", "if (!{M} && (a->priv & CF_REDUCE || b->priv & CF_REDUCE))",
      same="a reduction's target is taken whole, and whole boxes never meet in one iteration"),
    M(42, "nest: trip counts", NEST, "if (x->trip[d] != y->trip[d])", "if (!{M} && x->trip[d] != y->trip[d])"),
    M(43, "nest: tile of iterations", NEST, "!cf_itile_equal(&x->itile, &y->itile, x->domain, y->domain))",
      "(!{M} && !cf_itile_equal(&x->itile, &y->itile, x->domain, y->domain)))"),
    M(44, "nest: a task moves past one that it depends on", NEST, "else if (depends)\n        break;", "else if (!{M} && depends)\n        break;"),
    M(45, "nest: conflicts", NEST, "return a->store && a->store == b->store &&", "return !{M} && a->store && a->store == b->store &&"),
    M(46, "nest: number of loops", NEST, "if (x->ndims != y->ndims || ", "if ((!{M} && x->ndims != y->ndims) || "),

    # -- temporaries
    M(50, "temporary: live", NEST, "if (!s || s->live ||", "if (!s || (!{M} && s->live) ||"),
    M(51, "temporary: must-write", NEST, ["w->priv != CF_WRITE || !w->must ||", "if (!a->must || n == MAX_FIELDS)"],
      ["w->priv != CF_WRITE || (!{M} && !w->must) ||", "if ((!{M} && !a->must) || n == MAX_FIELDS)"]),
    M(52, "temporary: same map", NEST, "if (!cf_access_same_element(at_points(", "if (!{M} && !cf_access_same_element(at_points("),
    M(53, "temporary: later use in the window", NEST, "if (j < at || j >= last || f->nest_of",
      "if ({M} && j >= last)\n        continue;\n      if (j < at || j >= last || f->nest_of"),
    M(54, "temporary: other nest", NEST, "f->nest_of[j - g->first] != f->nest_of[at - g->first] ||",
      "(!{M} && f->nest_of[j - g->first] != f->nest_of[at - g->first]) ||"),
    M(55, "temporary: pending uses", NEST, "return uses == s->pending ? n : 0;", "return {M} || uses == s->pending ? n : 0;",
      same="a plan always covers the whole window, so every pending access of a store is among its uses"),
    M(56, "temporary: read before the write", NEST, "if (a->priv & CF_READ && (k == n || fields[k].task == j))",
      "if (!{M} && a->priv & CF_READ && (k == n || fields[k].task == j))"),
    M(57, "temporary: earlier use", NEST, "      if (j < at || j >= last",
      "      if ({M} && j < at)\n        continue;\n      if (j < at || j >= last",
      same="what comes before the covering write uses the memory, and nothing after it reads that"),
    M(58, "temporary: inner loops", NEST, "a->priv & CF_REDUCE || a->ninner || a->whole ||", "a->priv & CF_REDUCE || (!{M} && a->ninner) || a->whole ||",
      same="cf_access_same_element compares the numbers of inner loops, and the write has none"),
    M(59, "temporary: indirect", NEST, "a->whole || a->desc->flags & COFUSE_ACC_INDIRECT)",
      "(!{M} && (a->whole || a->desc->flags & COFUSE_ACC_INDIRECT)))",
      same="the element an indirect access takes is the whole store, and cf_access_same_element refuses whole boxes"),
    M(60, "temporary: one byte under two names", NEST, "if (a->field < fields[k].at + fields[k].bytes &&",
      "if (!{M} && a->field < fields[k].at + fields[k].bytes &&"),
    M(61, "temporary: type", NEST, "f->bytes == a->field_bytes && f->type == a->desc->type;",
      "f->bytes == a->field_bytes && ({M} || f->type == a->desc->type);"),
    M(62, "temporary: reduction", NEST, "          a->priv & CF_REDUCE ||", "          (!{M} && a->priv & CF_REDUCE) ||",
      same="the target of a reduction is taken whole"),
    M(63, "temporary: read in the task of the write", NEST, "(k == n || fields[k].task == j))", "(k == n || (!{M} && fields[k].task == j)))"),
    M(64, "temporary: inner loops and boxes of the write", NEST, "          w->ninner || w->whole)", "          (!{M} && (w->ninner || w->whole)))",
      same="the uses are asked the same, and the write is the first of them"),
    M(65, "temporary: the first use only writes", NEST, "w->priv != CF_WRITE ||", "(!{M} && w->priv != CF_WRITE) ||",
      same="a read of an element before a must-write of an earlier task is refused: 56, 63"),
    M(66, "same element: offset", ACCESS, "a->at - (int64_t)a->field != b->at - (int64_t)b->field ||",
      "(!{M} && a->at - (int64_t)a->field != b->at - (int64_t)b->field) ||"),
    M(67, "same element: coefficients", ACCESS, "for (int d = 0; d < a->map.rank; d++)\n      if (a->map.coef[d][l] != b->map.coef[d][l])",
      "for (int d = 0; d < a->map.rank; d++)\n      if (!{M} && a->map.coef[d][l] != b->map.coef[d][l])"),

    # -- key of a window
    M(70, "key: site", MEMO, "  PUT(b, site);", "  if (!{M})\n    PUT(b, site);"),
    M(71, "key: trip counts", MEMO, "  cf_buf_add(b, t->trip, t->ndims * sizeof *t->trip);", "  cf_buf_add(b, t->trip, {M} ? 0 : t->ndims * sizeof *t->trip);"),
    M(72, "key: step signs", MEMO, "    PUT(b, one);", "    if (!{M})\n      PUT(b, one);"),
    M(73, "key: deferred reductions", MEMO, "    PUT(b, t->deferred[r]);", "    if (!{M})\n      PUT(b, t->deferred[r]);",
      same="a deferred reduction adds an access to the task, which the key holds, and which of two like ones it is matters to no plan"),
    M(74, "key: privileges", MEMO, "(uint32_t)(a->priv | a->redop << 8", "(uint32_t)(({M} ? 0 : a->priv) | a->redop << 8",
      same="the privilege follows from the site"),
    M(75, "key: operator", MEMO, "| a->redop << 8", "| ({M} ? 0 : a->redop) << 8", same="the operator follows from the site"),
    M(76, "key: must", MEMO, "| a->must << 16", "| ({M} ? 0 : a->must) << 16",
      same="it follows from the site and from `whole`"),
    M(77, "key: whole", MEMO, "| a->whole << 17", "| ({M} ? 0 : a->whole) << 17",
      same="it follows from the site, strides, offset and shape, and with a condition from the base: same addresses, so each plan is right for both"),
    M(78, "key: field", MEMO, "a->field,\n", "{M} ? 0 : a->field,\n",
      same="it follows from the offset, the shape and `whole`"),
    M(79, "key: inner trip counts", MEMO, "add(b, a->itrip, a->ninner * sizeof *a->itrip);", "add(b, a->itrip, {M} ? 0 : a->ninner * sizeof *a->itrip);"),
    M(80, "key: strides", MEMO, "add(b, a->bstride, (size_t)(t->ndims", "add(b, a->bstride, {M} ? 0 : (size_t)(t->ndims"),
    M(81, "key: which store", MEMO, "    PUT(b, s->mark);", "    if (!{M})\n      PUT(b, s->mark);"),
    M(82, "key: store or captured", MEMO, "{s ? 0 : UINT32_MAX,", "{s || {M} ? 0 : UINT32_MAX,",
      same="an access of a store is followed by its shape or offset, so the keys differ in length"),
    M(83, "key: live", MEMO, "s->live << 16,", "({M} ? 0 : s->live) << 16,"),
    M(84, "key: type", MEMO, "s->type | s->rank << 8", "({M} ? 0 : s->type) | s->rank << 8",
      same="the kernel takes the types of its accesses, which follow from the site"),
    M(85, "key: rank", MEMO, "| s->rank << 8", "| ({M} ? 0 : s->rank) << 8",
      same="extents of another number move all that follows, and no home reads as another one so"),
    M(86, "key: pending", MEMO, "s->elem_bytes, s->pending,", "s->elem_bytes, {M} ? 0 : s->pending,",
      same="pending accesses are those of the window, which the key lists"),
    M(87, "key: extents", MEMO, "add(b, s->ext, s->rank * sizeof *s->ext);", "add(b, s->ext, {M} ? 0 : s->rank * sizeof *s->ext);"),
    M(88, "key: home", MEMO, "    put_partition(b, &s->home);", "    if (!{M})\n      put_partition(b, &s->home);"),
    M(89, "key: origin of the home", MEMO, "p->grain, p->origin,", "p->grain, {M} ? 0 : p->origin,"),
    M(90, "key: offset", MEMO, "  if (s)\n    PUT(b, a->at);", "  if (s && !{M})\n    PUT(b, a->at);"),
    M(91, "key: number of tasks", MEMO, "  PUT(b, n);", "  if (!{M})\n    PUT(b, n);",
      same="the rest of the key says where each task ends"),
    M(92, "key: fused or not", MEMO, "  PUT(b, fuse);", "  if (!{M})\n    PUT(b, fuse);", same="it never changes during a run"),
    M(93, "key: width of the field", MEMO, "a->field_bytes};", "{M} ? 0 : a->field_bytes};",
      same="it is the width of the type, which follows from the site, or that of the element, which is in the key"),
    M(94, "key: width of an element", MEMO, "s->elem_bytes,", "{M} ? 0 : s->elem_bytes,"),
    M(95, "key: flags", MEMO, "s->pending, s->flags};", "s->pending, {M} ? 0 : s->flags};", same="the analysis reads no flags"),
    M(96, "key: kind of the home", MEMO, "{p->kind | p->dim << 8,", "{({M} ? 0 : p->kind) | p->dim << 8,",
      same="the other fields of an unset home are zero, and extents decide whether there are tiles"),
    M(97, "key: tiled dimension of the home", MEMO, " | p->dim << 8, p->count", " | ({M} ? 0 : p->dim) << 8, p->count"),
    M(98, "key: length of the home", MEMO, " << 8, p->count, p->grain", " << 8, {M} ? 0 : p->count, p->grain"),
    M(99, "key: grain of the home", MEMO, "p->count, p->grain, ", "p->count, {M} ? 0 : p->grain, "),
    M(206, "key: iterations that make the access", MEMO, "add(b, a->cut, (size_t)(t->ndims", "add(b, a->cut, {M} ? 0 : (size_t)(t->ndims"),
    M(207, "key: first index of a conditional access", MEMO, "add(b, a->map.off, s->rank", "add(b, a->map.off, {M} ? 0 : s->rank",
      same="accesses at the same addresses have the same dependences, whatever map names them"),
    M(205, "key: scale of the home", MEMO, "p->num, p->den, p->off};", "{M} ? 0 : p->num, {M} ? 0 : p->den, {M} ? 0 : p->off};",
      same="a home is never scaled"),

    # -- data movement
    M(100, "halo below", NEED, "*lo = cf_max(0, h->origin - p->origin);", "*lo = {M} ? 0 : cf_max(0, h->origin - p->origin);"),
    M(101, "halo above", NEED, "*hi = cf_max(0, p->origin - h->origin);", "*hi = {M} ? 0 : cf_max(0, p->origin - h->origin);"),
    M(102, "halo: widths that are there", NEED, "if (wl <= s->halo_lo && wr <= s->halo_hi)",
      "if ((wl <= s->halo_lo && wr <= s->halo_hi) || ({M} && (s->halo_lo || s->halo_hi)))"),
    M(103, "halo: several widths in one group", NEED, "f->hi = cf_max(f->hi, cf_max(wr, s->halo_hi));",
      "f->hi = {M} ? wr : cf_max(f->hi, cf_max(wr, s->halo_hi));"),
    M(104, "halo one short", NEED, "cf_clamp(b + f->hi, 0, ext)}", "cf_clamp(b + f->hi - {M}, 0, ext)}"),
    M(105, "reads that are no halo", NEED, "  CF_TRY(form_for(n, t->domain == CF_SINGLE ? LOCAL : AFFINE,",
      "  if ({M})\n    return CF_OK;\n  CF_TRY(form_for(n, t->domain == CF_SINGLE ? LOCAL : AFFINE,"),
    M(106, "replicated reads", NEED, "    if (goes_to_all(e, s, a->lo[dim], a->hi[dim]))\n", "    if ({M} || goes_to_all(e, s, a->lo[dim], a->hi[dim]))\n"),
    M(107, "some rows taken for all", MOVE, "if (lo == 0 && hi == ext)\n    s->all_valid = true;",
      "if ({M} || (lo == 0 && hi == ext))\n    s->all_valid = true;"),
    M(108, "written before: unconditional", NEED, "w->store != r->store || !w->must ||", "w->store != r->store || (!{M} && !w->must) ||"),
    M(109, "written before: on every rank", NEED, "tasks[j]->domain != CF_REPLICATED ||", "(!{M} && tasks[j]->domain != CF_REPLICATED) ||",
      same="a read joins the group of a distributed write only where it stays in its own tile (1, 9), for which nothing is fetched"),
    M(110, "written before: covers", NEED, "covers &= w->lo[d] <= r->lo[d] &&", "covers &= ({M} || w->lo[d] <= r->lo[d]) &&"),
    M(111, "written before: fills its box", NEED, "|| !cf_fills_box(w))", "|| (!{M} && !cf_fills_box(w)))"),
    M(112, "written before: all of the element", NEED, "w->field_bytes != r->store->elem_bytes ||", "(!{M} && w->field_bytes != r->store->elem_bytes) ||"),

    M(113, "reads that leave their rows: the rows that they reach", NEED, "memcmp(x->carry, a->carry, sizeof a->carry) == 0 &&", "({M} || memcmp(x->carry, a->carry, sizeof a->carry) == 0) &&"),

    # -- validity
    M(120, "validity: everything after a write", NEED, "s->all_valid = false;", "s->all_valid = {M} && s->all_valid;"),
    M(121, "validity: halos after a write", NEED, "s->halo_lo = s->halo_hi = 0;", "if (!{M})\n          s->halo_lo = s->halo_hi = 0;"),
    M(122, "reductions: prior value", REDUCE, "if (mine[at].used)\n          combine(red, acc, &place, mine[at].value, mine[at].place);",
      "if (mine[at].used && {M})\n          memcpy(acc, mine[at].value, w);\n        else if (mine[at].used)\n          combine(red, acc, &place, mine[at].value, mine[at].place);"),

    # -- order of tasks and nests; owners of local tasks
    M(230, "move ahead: a task moves past one that it depends on", FUSE, "return a->store != b->store || !((a->priv",
      "return {M} || a->store != b->store || !((a->priv"),
    M(231, "move ahead: takes a temporary apart (only costs)", FUSE, "if (f->mark[j] == 1 && splits_temporary(f, first, at, end, j))",
      "if (!{M} && f->mark[j] == 1 && splits_temporary(f, first, at, end, j))",
      same="the store keeps its memory where its uses are not in one group"),
    M(232, "flush: up to the conflict, reordered", WINDOW, "last = cf_plan_last(p, last);", "last = {M} ? last : cf_plan_last(p, last);"),
    M(233, "nest: a scalar comes first though something needs it later", NEST, "free &= !depends;", "free &= {M} || !depends;"),
    M(234, "one owner: origin of the home", PARTITION, "return a->row - a->home.origin == b->row - b->home.origin &&", "return ({M} || a->row - a->home.origin == b->row - b->home.origin) &&"),
    M(235, "key: places of loops", MEMO, "add(b, t->loop_at, t->desc->ndims);", "add(b, t->loop_at, {M} ? 0 : t->desc->ndims);"),
    M(236, "home: an array that is only read", "analysis/align.c", "x->store && x->priv & (CF_WRITE | CF_REDUCE) && homes", "x->store && ({M} || x->priv & (CF_WRITE | CF_REDUCE)) && homes",
      same="any home is right: it decides where things run, not what they compute"),

    # -- edges: tasks with different boxes in one nest
    M(240, "edges: a value from a task that does not run there", NEST, "if (a->priv & CF_READ && !f->common[j - g->first] &&",
      "if (!{M} && a->priv & CF_READ && !f->common[j - g->first] &&"),
    M(241, "edges: conflicts in different points", PEEL, "cf_nest_relation(f->tasks[j], f->shift[j], t, s, trip) == 2)",
      "(!{M} && cf_nest_relation(f->tasks[j], f->shift[j], t, s, trip) == 2))"),
    M(242, "edges: tiles are not laid on top of each other", PEEL, "*shift = diff / a->c;", "*shift = {M} ? 0 : diff / a->c;",
      same="conflicting accesses move with the tiled loop, so the relation refuses another shift; it costs a nest"),
    M(243, "edges: shift of the iterations", PEEL, "sy[l] = sx[l] + diff / c;", "sy[l] = sx[l] + ({M} ? 0 : diff / c);",
      same="only the shift that lets accesses meet passes the relation; a wrong one costs a nest"),
    M(244, "edges: a rank whose tile is all edge", RUN, "st = run_edges(x, b, g, n, window, &r, false);", "st = {M} ? CF_OK : run_edges(x, b, g, n, window, &r, false);"),
    M(245, "edges: those after the nest", RUN, "st = run_edges(x, b, g, n, window, &r, true);", "st = {M} ? CF_OK : run_edges(x, b, g, n, window, &r, true);"),
    M(246, "edges: what is beyond the upper end", PEEL, "if (chi[d] < hi[d] && k-- == 0) {", "if (!{M} && chi[d] < hi[d] && k-- == 0) {"),
    M(247, "edges: what is before the lower end", PEEL, "if (lo[d] < clo[d] && k-- == 0) {", "if (!{M} && lo[d] < clo[d] && k-- == 0) {"),
    M(248, "edges: a corner runs twice", PEEL, "    slo[d] = clo[d];\n    shi[d] = chi[d];", "    slo[d] = {M} ? lo[d] : clo[d];\n    shi[d] = {M} ? hi[d] : chi[d];"),
    M(249, "edges: a reduction's own points", PEEL, "if (t->nreds && !is_common(&e, t, s))", "if (!{M} && t->nreds && !is_common(&e, t, s))"),
    M(250, "edges: points that a reduction loses", PEEL, "((f->tasks[j]->nreds && !is_common(&e, f->tasks[j], f->shift[j])) ||",
      "((!{M} && f->tasks[j]->nreds && !is_common(&e, f->tasks[j], f->shift[j])) ||"),
    M(251, "edges: the counter's first value", RUN, "(s->at ? s->at[s->k] * t->step[s->k] : 0)", "(s->at && !{M} ? s->at[s->k] * t->step[s->k] : 0)"),
    M(252, "edges: where the nest's points begin", NEST, "n->at[at][d] = low[d] - f->shift[i][d];", "n->at[at][d] = {M} ? 0 : low[d] - f->shift[i][d];"),
    M(253, "edges: tasks that differ share a function", NEST, "if (at > 0 && f->segment[n->tasks[at - 1] - g->first] == f->segment[i])",
      "if (n->nedges > 0 && ({M} || (at > 0 && f->segment[n->tasks[at - 1] - g->first] == f->segment[i])))"),
    M(254, "edges: same shape again, elsewhere", NEST, "if (edges && (!fits || !even(f, (uint32_t)k, i)))", "if (edges && (!fits || (!{M} && !even(f, (uint32_t)k, i))))"),

    M(255, "edges: an attempt leaves its shift behind", NEST, "memset(f->shift[i], 0, sizeof f->shift[i]); /* an attempt", "if (!{M})\n        memset(f->shift[i], 0, sizeof f->shift[i]); /* an attempt"),

    # -- reductions in lanes
    M(280, "lanes: what is left over is lost", LANES, "  return fold_lanes(o, name, r, 1, CF_ASM_LANES);", "  return {M} ? CF_OK : fold_lanes(o, name, r, 1, CF_ASM_LANES);"),
    M(281, "lanes: the last two are not combined", LANES, "for (int n = CF_ASM_LANES / 2; n > 0; n /= 2)", "for (int n = CF_ASM_LANES / 2; n > {M}; n /= 2)"),
    M(282, "lanes: any of several zeros", LANES, "    put_place(o, l, name);", "    if (!{M})\n      put_place(o, l, name);"),
    M(283, "extrema: blocks and ranks in their own order", REDUCE, "    row *= t->trip[d];\n  }\n  return at;", "    row *= t->trip[d];\n  }\n  return {M} ? 0 : at;"),

    # -- reductions into array sections
    M(260, "section: the last element of a copy has no identity", SECTIONS, "cf_red_fill(red->op, red->type, array, (size_t)s->task->red_count[r]);",
      "cf_red_fill(red->op, red->type, array, (size_t)s->task->red_count[r] - {M});"),
    M(261, "section: the second unit", SECTIONS, "for (int64_t u = 1; u < s->nunits; u++)", "for (int64_t u = 1 + {M}; u < s->nunits; u++)"),
    M(262, "section: the first rank", SECTIONS, "for (size_t p = 0; all && st == CF_OK && p < size; p++)", "for (size_t p = {M}; all && st == CF_OK && p < size; p++)"),
    M(263, "section: what it held before, one rank", SECTIONS, "cf_red_combine_all(red->op, red->type, t->targets[r], array_of(s, 0, r), n);",
      "{M} ? (void)__builtin_memcpy(t->targets[r], array_of(s, 0, r), n * cf_type_bytes(red->type)) : cf_red_combine_all(red->op, red->type, t->targets[r], array_of(s, 0, r), n);"),
    M(264, "section: two of them in one place", SECTIONS, "s->at[r] = s->unit_bytes + FRONT;", "s->at[r] = {M} ? FRONT : s->unit_bytes + FRONT;"),
    M(265, "section: result stays on rank 0", SECTIONS, "st = x->comm->ops->bcast(x->comm, target + at, n, 0, cf_exec_stamp(x));",
      "st = x->comm->ops->bcast(x->comm, {M} ? mine + at : target + at, n, 0, cf_exec_stamp(x));"),
    M(266, "section: a rank without iterations", RUN, "if (st == CF_OK && sectioned < g->ntasks)", "if (st == CF_OK && sectioned < g->ntasks && !({M} && !sections))"),

    # -- conditional accesses
    M(270, "condition: one iteration too few", LAUNCH, "cut[start ? 0 : 1] = cf_clamp(k, 0, n);", "cut[start ? 0 : 1] = cf_clamp(k + {M}, 0, n);"),
    M(271, "condition: falling counters", LAUNCH, "bool start = (end == 0) == (step > 0);", "bool start = (end == 0) == ({M} || step > 0);"),
    # -- host access
    M(130, "guard: fetch", GUARD, "cf_status st = cf_exec_fetch(&cf_ctx.exec, s, lo, hi);", "cf_status st = {M} ? CF_OK : cf_exec_fetch(&cf_ctx.exec, s, lo, hi);"),
    M(131, "guard: pending writes before a read", WINDOW, "if (a->store != s || (!write && !(a->priv & (CF_WRITE | CF_REDUCE))))",
      "if (a->store != s || ({M} && !write) || (!write && !(a->priv & (CF_WRITE | CF_REDUCE))))"),
    M(132, "guard: pending reads before a write", WINDOW, "(!write && !(a->priv & (CF_WRITE | CF_REDUCE))))",
      "((!write || {M}) && !(a->priv & (CF_WRITE | CF_REDUCE))))"),
    M(133, "guard: byte range", WINDOW, "    *hi += (a->hi[d] - 1) * w;", "    *hi += {M} ? 0 : (a->hi[d] - 1) * w;"),
    M(134, "flush: up to the conflict", WINDOW, "while (n < p->ngroups && p->groups[n].first <= last)",
      "while (n < p->ngroups && p->groups[n].first + {M} <= last)"),

    # -- registry and issue
    M(140, "free while tasks are pending", REGISTRY, "  if (!holds_stores(p, n, &at)) {\n    release",
      "  if ({M} || !holds_stores(p, n, &at)) {\n    release"),
    M(141, "free: memory goes at once", REGISTRY, "  *b = (cf_block){.freed = {p,", "  if ({M}) {\n    give_up(at, (char *)p + n, NULL);\n    release(p, bytes);\n    free(b);\n    return;\n  }\n  *b = (cf_block){.freed = {p,"),
    M(142, "dependence between iterations", LAUNCH, "if (t->ndims == 0 || cf_access_same_iteration(", "if ({M} || t->ndims == 0 || cf_access_same_iteration("),
    M(143, "plain memory is not copied", LAUNCH, "  if (hi - lo > SNAPSHOT_MAX) {", "  if ({M} || {M144} || hi - lo > SNAPSHOT_MAX) {",
      same="what is not copied makes its task run at once"),
    M(144, "plain memory is neither copied nor read at once", LAUNCH, "    q->at_once = true;", "    q->at_once = !{M};"),
    M(145, "a store given up is found again", LAUNCH, "  if (!s || s->live)\n    return s;", "  if ({M} || !s || s->live)\n    return s;"),
    M(146, "scalars are captured late", LAUNCH, "  for (int s = 0; s < d->nscalars; s++)", "  for (int s = {M}; s < d->nscalars; s++)"),
    # -- calls like earlier ones
    M(290, "again: numbers of the call", AGAIN, "        !same_words(c, ints))", "        (!{M} && !same_words(c, ints)))"),
    M(291, "again: where the access lies in its store", AGAIN, "cf_store *s = cf_registry_at(start);", "cf_store *s = {M} ? cf_registry_find(at) : cf_registry_at(start);"),
    M(292, "again: the pointer that an access is based on", AGAIN, "if (base - start != p->base)", "if (!{M} && base - start != p->base)",
      same="with a condition the map starts from it; another map names the same addresses"),
    M(293, "again: two accesses of one store", AGAIN, "return s->base == start ? s : NULL;", "return {M} || s->base == start ? s : NULL;"),
    M(294, "again: accesses of two stores", AGAIN, "if (t->access[i].store == s)\n      return NULL;", "if (!{M} && t->access[i].store == s)\n      return NULL;"),
    M(295, "again: extents", AGAIN, "same(s->ext, p->ext, p->rank);", "({M} || same(s->ext, p->ext, p->rank));"),
    M(296, "again: a store that was given up", AGAIN, "return s->live && s->elem", "return (s->live || {M}) && s->elem"),
    M(297, "again: rank", AGAIN, "s->rank == p->rank &&", "(s->rank == p->rank || {M}) &&"),
    M(298, "again: targets", AGAIN, "      t->targets[r] = targets[r];", "      t->targets[r] = {M} ? t->targets[r] : targets[r];"),
    M(299, "again: scalars", LAUNCH, "  if (t) {\n    take_scalars", "  if (t) {\n    if (!{M})\n      take_scalars"),
    # -- the memory of a device
    D(300, "device: what the host has is not sent", INSTANCE, "HOST, BOTH, to_device)", "HOST, BOTH, {M} ? NULL : to_device)"),
    D(301, "device: what it has is not fetched", INSTANCE, "DEVICE, BOTH, to_host)", "DEVICE, BOTH, {M} ? NULL : to_host)"),
    D(302, "device: its copy stays valid when the host writes", INSTANCE, "CF_TRY(set(x, i, lo, hi, HOST));", "CF_TRY({M} ? CF_OK : set(x, i, lo, hi, HOST));"),
    D(303, "device: the host's copy stays valid when a kernel writes", INSTANCE, "CF_TRY(set(x, i, lo, hi, DEVICE));", "CF_TRY(set(x, i, lo, hi, {M} ? BOTH : DEVICE));"),
    D(304, "device: one row too few", ON_DEVICE, "bool fetch = a->priv & CF_READ", "hi -= {M};\n        bool fetch = a->priv & CF_READ"),
    D(305, "device: what a task leaves of rows is not fetched", ON_DEVICE, "!cf_fills_box(w))\n    return false;", "!cf_fills_box(w))\n    return {M};"),
    D(306, "device: part of each row is taken for all of it", ON_DEVICE, "if (d != dim && (w->lo[d]", "if (!{M} && d != dim && (w->lo[d]"),
    D(307, "device: guards of a loop, then a group", ON_DEVICE, "if (s && s->host_epoch == x->epoch)", "if (s && !{M} && s->host_epoch == x->epoch)"),
    D(308, "device: guards are not remembered", GUARD, "  if (cf_on_control)\n    s->host_epoch", "  if (cf_on_control && !{M})\n    s->host_epoch"),
    D(309, "device: the host writes part of a row", INSTANCE, "(mode & COFUSE_R || !exact)", "(mode & COFUSE_R || (!exact && !{M}))"),
    D(310, "device: the host writes what it gave up", GUARD, "    bring_home(s, lo, hi, COFUSE_R | COFUSE_W);", "    if (!{M})\n      bring_home(s, lo, hi, COFUSE_R | COFUSE_W);"),
    D(311, "device: part of a row for the host, on another rank", MOVE, "  if (q != x->comm->rank)\n    CF_TRY(cf_instance_host_wrote", "  if (q != x->comm->rank && !{M})\n    CF_TRY(cf_instance_host_wrote"),
    D(312, "device: messages send what the host has", MOVE, "CF_TRY(p->send ? cf_instance_host(x, s, p->lo, p->hi)", "CF_TRY(p->send ? {M} ? CF_OK : cf_instance_host(x, s, p->lo, p->hi)"),
    D(313, "device: its copy stays valid when a message comes", MOVE, ": cf_instance_host_wrote(x, s, p->lo, p->hi));", ": {M} ? CF_OK : cf_instance_host_wrote(x, s, p->lo, p->hi));"),
    D(314, "device: rows for all ranks as the host has them", MOVE, "CF_TRY(cf_instance_host(x, s, cf_max(own_lo, lo), cf_min(own_hi, hi)));", "CF_TRY({M} ? CF_OK : cf_instance_host(x, s, cf_max(own_lo, lo), cf_min(own_hi, hi)));"),
    D(315, "device: rows of lower ranks stay valid", MOVE, "CF_TRY(cf_instance_host_wrote(x, s, lo, cf_min(hi, own_lo)));", "CF_TRY({M} ? CF_OK : cf_instance_host_wrote(x, s, lo, cf_min(hi, own_lo)));"),
    D(316, "device: rows of higher ranks stay valid", MOVE, "CF_TRY(cf_instance_host_wrote(x, s, cf_max(lo, own_hi), hi));", "CF_TRY({M} ? CF_OK : cf_instance_host_wrote(x, s, cf_max(lo, own_hi), hi));"),
    D(317, "device: part of a row for the host", MOVE, "CF_TRY(cf_instance_host(x, s, r0, r1));", "CF_TRY({M} ? CF_OK : cf_instance_host(x, s, r0, r1));"),
    D(318, "device: results of reductions", REDUCE, "cf_store *s = mine[at].done ? NULL :", "cf_store *s = mine[at].done || {M} ? NULL :"),
    D(319, "device: a copy from before the store had its home", INSTANCE, "if (i && i->dim != cf_instance_dim(s)) {", "if (i && !{M} && i->dim != cf_instance_dim(s)) {"),
    D(320, "device: a copy that grows", INSTANCE, "i->mem, i->bytes));\n    give_back", "i->mem, {M} ? 0 : i->bytes));\n    give_back"),
    D(321, "device: what is given up for want of memory is not fetched", INSTANCE, "*st = home_all(x, oldest);", "*st = {M} ? CF_OK : home_all(x, oldest);"),
    D(322, "device: a directive that says that the host writes", GUARD, "cause == CF_FLUSH_HOST ? mode", "cause == CF_FLUSH_HOST && !{M} ? mode"),
    D(323, "device: what is left of rows, in a sum", FOLD, "next, now[0], now[CF_DEVICE_LANES]);", "next, now[0], now[{M} ? 0 : CF_DEVICE_LANES]);"),
    D(324, "device: a task on the CPU reads what the host has", ON_DEVICE, "CF_TRY(fetch ? cf_instance_host(x, a->store, lo, hi) : CF_OK);", "CF_TRY(fetch && !{M} ? cf_instance_host(x, a->store, lo, hi) : CF_OK);"),
    D(325, "device: its copy stays valid when a task on the CPU writes", ON_DEVICE, "CF_TRY(cf_instance_host_wrote(x, a->store, lo, hi));", "CF_TRY({M} ? CF_OK : cf_instance_host_wrote(x, a->store, lo, hi));"),
    D(326, "device: the lanes of a reduction", "codegen/assemble_device.c", "(int64_t)CF_RED_SLOT * (int64_t)o->unit->nreds;", "(int64_t)CF_RED_SLOT * (int64_t)(o->unit->nreds - ({M} && o->unit->nreds > 1));"),
    D(327, "device: edges", ON_DEVICE, "CF_TRY(run_edges(x, b, g, n, window, &r, any, &box));", "if (!{M})\n      CF_TRY(run_edges(x, b, g, n, window, &r, any, &box));"),
    D(328, "device: captured memory", ON_DEVICE, "memcpy(all->data + i * sizeof at, &at, sizeof at);", "memcpy(all->data + i * sizeof at, &at, {M} ? 0 : sizeof at);"),
    D(329, "device: results stay where they are", ON_DEVICE, "if (m->done && m->used)", "if (m->done && m->used && !{M})"),
    D(330, "device: the first block for all", FOLD, 'put_constant(text, "%row", (int64_t)CF_RED_SLOT * (int64_t)u->nreds);\n  int64_t i = 0;',
      'put_constant(text, "%row", {M} ? 0 : (int64_t)CF_RED_SLOT * (int64_t)u->nreds);\n  int64_t i = 0;'),
    D(331, "device: the host's copy of a result stays valid", ON_DEVICE, "CF_TRY(cf_instance_device_wrote(x, s, 0,", "CF_TRY({M} ? CF_OK : cf_instance_device_wrote(x, s, 0,"),
    D(332, "device: many parts, and the host needs what is there alone", INSTANCE, "if (i->seg[k].state == DEVICE)\n      CF_TRY(to_host(x, i, k ?", "if (i->seg[k].state == DEVICE && !{M})\n      CF_TRY(to_host(x, i, k ?"),
    D(333, "device: a result in plain sight", REDUCE, "if (s && p >= s->base", "if (s && !{M} && p >= s->base"),
    D(334, "device: what comes is not marked", INSTANCE, "CF_TRY(set(x, s->instance, lo, hi, DEVICE));", "CF_TRY({M} ? CF_OK : set(x, s->instance, lo, hi, DEVICE));"),
    D(335, "device: sent from there, whatever it has", INSTANCE, "if (i->seg[k].state == HOST && (k ?", "if (i->seg[k].state == HOST && !{M} && (k ?"),
    D(336, "device: a vector's own part is sent as it is", MOVE, "*st = cf_instance_device(x, s, own_lo, own_hi, true);", "*st = cf_instance_device(x, s, own_lo, own_hi, !{M});"),
    D(337, "device: a vector comes, and is said to be on the host", MOVE, "*st = cf_instance_comes(x, s, own_hi, ext);", "*st = {M} ? CF_OK : cf_instance_comes(x, s, own_hi, ext);"),
    D(338, "device: addresses before memory is made", MOVE, "CF_TRY(cf_instance_device(x, p->store, p->lo, p->hi, false));", "CF_TRY({M} ? CF_OK : cf_instance_device(x, p->store, p->lo, p->hi, false));"),
    D(339, "device: any number of parts may come", INSTANCE, "i->n + 2 * k <= SEGMENTS;", "({M} || i->n + 2 * k <= SEGMENTS);"),
    D(340, "device: memory of what is to come may be taken", RUN, "if (x->device)\n    cf_instance_turn(x);", "if (x->device && !{M})\n    cf_instance_turn(x);"),
    D(341, "device: nests that need each other at once", BIND, "if (b->level[m] >= b->level[n] && in_order(", "if (!{M} && b->level[m] >= b->level[n] && in_order("),
]

HEAD = "#include \"base/base.h\"\nextern int cf_mutant;\n#define CF_MUTANT(n) (cf_mutant == (n))\n"
READ = """
#include <stdlib.h>
int cf_mutant;
__attribute__((constructor)) static void cf_mutant_read(void) {
  const char *s = getenv("COFUSE_MUTANT");
  cf_mutant = s ? atoi(s) : 0;
}
"""


def rewrite(runtime, out):
    """Copies of the sources with all mutants in them. Returns the numbers of those whose text is gone."""
    runtime, out, texts, gone = pathlib.Path(runtime), pathlib.Path(out), {}, []
    for m in MUTANTS:
        text = texts.get(m.file) or (runtime / m.file).read_text()
        fill = lambda s: re.sub(r"\{M(\d*)\}", lambda k: f"CF_MUTANT({k.group(1) or m.number})", s)
        olds, news = ([m.old], [m.new]) if isinstance(m.old, str) else (m.old, m.new)
        for old, new in zip(map(fill, olds), map(fill, news)):
            if text.count(old) != 1:
                gone.append((m, text.count(old)))
            else:
                text = text.replace(old, new)
        texts[m.file] = text
    texts["base/status.c"] = (runtime / "base/status.c").read_text() + READ
    for file, text in texts.items():
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        head = "" if file.startswith("base/") else HEAD
        (out / file).write_text(f'{head}#line 1 "{runtime / file}"\n{text}')
    return gone


if __name__ == "__main__":
    numbers = [m.number for m in MUTANTS]
    twice = sorted({n for n in numbers if numbers.count(n) > 1})
    if twice:
        sys.exit(f"mutations.py: numbers of several mutants: {twice}")
    bad = rewrite(sys.argv[1], sys.argv[2])
    for m, n in bad:
        print(f"mutations.py: mutant {m.number} ({m.name}): its text is {n} times in {m.file}, not once", file=sys.stderr)
    sys.exit(1 if bad else 0)
