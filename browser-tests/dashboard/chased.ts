import { office } from './office.ts';
import { testStore } from './places.ts';

/** The app of the office after its story: a session that waits, and a fork of it. */
export async function chased() {
  const { app, chase } = office(await testStore());
  await app.run(chase, { session: 'chase-0', input: 'Chase the unpaid invoices.' });
  await app.sessions.fork('chase-0', { id: 'fork-0', at: 46 });
  await app.resume('fork-0');
  return app;
}
