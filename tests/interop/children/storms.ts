/** A Node process whose tasks take part in a storm. */
import { Redis } from 'ioredis';
import { Holdfast } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';
import { PATIENT } from '../patient.ts';
import { type StormSettings, storm } from '../storm.ts';

const [url, tasks] = process.argv.slice(2) as [string, string];
const client = await Holdfast.connect(url, PATIENT);
const redis = new Redis(url);

async function takePart(): Promise<void> {
  try {
    const settings = JSON.parse(tasks) as StormSettings[];
    tell({ entries: await Promise.all(settings.map((each) => storm(client, redis, each))) });
  } catch (error) {
    tell({ error: String(error) });
  }
}

onOrder(() => void takePart());
tell({ ready: true });
