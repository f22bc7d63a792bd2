import { DataSource } from 'typeorm';
import { makeSpecimens, SpecimensModule } from './modules/specimens';
import { ALL_ARE_ASKED } from './asked';
import { ASKED, collectionsOf, writablesOf } from './resources';
import { specimens } from './resources/specimens';
import { type TestApi, useTestApi } from './test-api';

/** What all resources are asked, asked of the specimens as well. */
const ASKED_HERE = ALL_ARE_ASKED ? [...ASKED, specimens] : ASKED;
export const WRITABLES_AND_SPECIMENS = writablesOf(ASKED_HERE);
export const COLLECTIONS_AND_SPECIMENS = collectionsOf(ASKED_HERE);

/** The application with a resource whose attributes are of every kind. */
export function useSpecimens(): TestApi {
  if (!ALL_ARE_ASKED) return useTestApi();
  const api = useTestApi({ imports: [SpecimensModule] });
  beforeAll(() => makeSpecimens(api.app.nest.get(DataSource)));
  return api;
}
