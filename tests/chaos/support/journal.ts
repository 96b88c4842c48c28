/** Records what one process of a test does, and judges it. */
import { onTestFinished } from 'vitest';
import { checkHistory, type HistoryEvent, Recorder, type Violation } from '../../../src/testing/index.ts';

export class Journal {
  readonly events: HistoryEvent[] = [];

  /** A recorder that writes into this journal until the test is over. */
  recorder(proc = 'test'): Recorder {
    const recorder = new Recorder(proc, (event) => this.events.push(event));
    onTestFinished(() => recorder.close());
    return recorder;
  }

  /** Everything in it that was not allowed. */
  violations(): readonly Violation[] {
    return checkHistory(this.events).violations;
  }
}
