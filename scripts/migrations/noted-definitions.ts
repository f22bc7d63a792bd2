import type { DataSource } from 'typeorm';
import { Query } from 'typeorm/driver/Query.js';

/** As TypeORM makes it. Only its own command does so, and the start of the service doesn't. */
const TABLE =
  'CREATE TABLE IF NOT EXISTS "typeorm_metadata" ("type" character varying NOT NULL, "database" character varying, ' +
  '"schema" character varying, "table" character varying, "name" character varying, "value" text)';
const NAMES_TABLE = /"typeorm_metadata"/;
/** The place of the database's name in an INSERT, whose first column it is, and in a DELETE. */
const DATABASE = /(?<="database" = |\("database",.* VALUES \()\$(\d+)/;

/**
 * Lets migrations that are generated run anywhere. TypeORM notes in a table how views and generated columns are defined. Here
 * a migration makes that table first, and notes the name of the database that it runs in instead of the developer's.
 */
export function generatePortably(dataSource: DataSource): void {
  const { driver } = dataSource;
  const createSchemaBuilder = driver.createSchemaBuilder.bind(driver);
  driver.createSchemaBuilder = () => {
    const builder = createSchemaBuilder();
    const log = builder.log.bind(builder);
    builder.log = async () => {
      const memory = await log();
      memory.upQueries = memory.upQueries.map(portable);
      memory.downQueries = memory.downQueries.map(portable);
      if (memory.upQueries.some(({ query }) => NAMES_TABLE.test(query))) memory.upQueries.unshift(new Query(TABLE));
      return memory;
    };
    return builder;
  };
}

function portable(statement: Query): Query {
  const { query, parameters = [] } = statement;
  const place = NAMES_TABLE.test(query) ? Number(DATABASE.exec(query)?.[1] ?? 0) : 0;
  if (place === 0) return statement;
  const text = query.replaceAll(/\$(\d+)/g, (_all, digits) => {
    const number = Number(digits);
    return number === place ? 'current_database()' : `$${number > place ? number - 1 : number}`;
  });
  return new Query(text, parameters.toSpliced(place - 1, 1));
}
