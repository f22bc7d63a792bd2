import type { DataSource, QueryRunner } from 'typeorm';

/**
 * Sends the statements of a query runner one after the other. TypeORM asks for the columns of a table at once on one connection,
 * which pg warns of, and will refuse in its version 9.
 */
export function askOneByOne(dataSource: DataSource): void {
  const createQueryRunner = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode) => inTurn(createQueryRunner(mode));
}

function inTurn(runner: QueryRunner): QueryRunner {
  const query = runner.query.bind(runner);
  let last: Promise<unknown> = Promise.resolve();
  const queryInTurn = (...statement: Parameters<typeof query>): Promise<unknown> => {
    const answer = last.then(() => query(...statement));
    last = answer.catch(() => undefined);
    return answer;
  };
  return Object.assign(runner, { query: queryInTurn });
}
