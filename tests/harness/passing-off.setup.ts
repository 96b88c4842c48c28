/** Runs the tests of a project, and their children, with clients that pass no lock on unless a test says otherwise. */
import { turnPassingOff } from './passing.ts';

turnPassingOff();
