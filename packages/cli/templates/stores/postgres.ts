import { postgres } from 'adjutant/postgres';

/** Sessions are in PostgreSQL, so that several machines can work on them. */
export const store = postgres(process.env['DATABASE_URL'] ?? 'postgres://localhost:5432/my-app');
