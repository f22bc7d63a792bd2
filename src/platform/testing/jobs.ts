import { RepeatedJob } from '../transactions/repeated-job';

/** Lets no job begin by itself during the tests of a file. To be called before what starts applications: they end after their jobs. */
export function useNoJobs(): void {
  let goOn: () => void;
  beforeAll(() => void RepeatedJob.between(() => new Promise<void>((over) => (goOn = over))));
  afterAll(() => goOn());
}
