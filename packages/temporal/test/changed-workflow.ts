import { sleep } from '@temporalio/workflow';

/** The workflow as a careless change would make it: it begins with a timer. */
export async function adjutantBurst1(): Promise<string> {
  await sleep(1_000);
  return 'done';
}
