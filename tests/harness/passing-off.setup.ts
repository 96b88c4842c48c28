/**
 * Runs the tests of a project with clients that pass no lock on, unless a test says otherwise. Clients of child
 * processes are made elsewhere and pass on as they are told.
 */
import { Holdfast } from '../../src/index.ts';

const { connect, from } = Holdfast;

Holdfast.connect = (target, options) => connect.call(Holdfast, target, { passOn: false, ...options });
Holdfast.from = (client, options) => from.call(Holdfast, client, { passOn: false, ...options });
