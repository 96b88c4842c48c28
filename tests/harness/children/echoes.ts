/** Says who it is, then repeats what it is told. */
import { onOrder, tell } from '../in-child.ts';

const { GIVEN: env } = process.env;
tell({ pid: process.pid, arg: process.argv[2], env });
onOrder(tell);
