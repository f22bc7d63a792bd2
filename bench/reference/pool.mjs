// The pool of servers whose frameworks make JSON: ids and prices are numbers, dates are dates.
import pg from 'pg';

const BIGINT = 20;
const NUMERIC = 1700;

for (const type of [BIGINT, NUMERIC]) pg.types.setTypeParser(type, Number);

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
