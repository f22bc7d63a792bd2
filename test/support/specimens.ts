import { DataSource } from 'typeorm';
import { makeSpecimens, SpecimensModule } from './modules/specimens';
import { ALL_ARE_ASKED } from './asked';
import { ShelvesModule } from './modules/shelves';
import { ASKED, collectionsOf, writablesOf } from './resources';
import { ROUTES } from './requests';
import { shelves, slots } from './resources/shelves';
import { specimens } from './resources/specimens';
import { type TestApi, useTestApi } from './test-api';

/** What all resources are asked, asked of the specimens as well. */
const OWN = ALL_ARE_ASKED ? [specimens, shelves, slots] : [];
const ASKED_HERE = [...ASKED, ...OWN];
export const WRITABLES_AND_SPECIMENS = writablesOf(ASKED_HERE);
export const COLLECTIONS_AND_SPECIMENS = collectionsOf(ASKED_HERE);

export const ROUTES_AND_SPECIMENS = [...ROUTES, ...OWN.flatMap(({ requests }) => Object.keys(requests))];

/** The application with a resource whose attributes are of every kind, and resources of other shapes. */
export function useSpecimens(): TestApi {
  if (!ALL_ARE_ASKED) return useTestApi();
  const api = useTestApi({ imports: [SpecimensModule, ShelvesModule] });
  beforeAll(() => makeSpecimens(api.app.nest.get(DataSource), ['furniture', 'slots']));
  return api;
}

/** Without audit events, which come by themselves while the others are asked, and whose filters go together. */
export const STEADY_COLLECTIONS = COLLECTIONS_AND_SPECIMENS.filter(({ table }) => table !== 'audit_events');
