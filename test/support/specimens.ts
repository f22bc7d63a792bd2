import { DataSource } from 'typeorm';
import { makeSpecimens, SpecimensModule } from './modules/specimens';
import { collectionsOf, RESOURCES, writablesOf } from './resources';
import { specimens } from './resources/specimens';
import { type TestApi, useTestApi } from './test-api';

/** What all resources are asked, asked of the specimens as well. */
export const WRITABLES_AND_SPECIMENS = writablesOf([...RESOURCES, specimens]);
export const COLLECTIONS_AND_SPECIMENS = collectionsOf([...RESOURCES, specimens]);

/** The application with a resource whose attributes are of every kind. */
export function useSpecimens(): TestApi {
  const api = useTestApi({ imports: [SpecimensModule] });
  beforeAll(() => makeSpecimens(api.app.nest.get(DataSource)));
  return api;
}
