import { expectError, expectSuccess } from '../../src/platform/testing';
import { ThingsModule } from './modules/things';
import { useTestApi } from './test-api';

export const aThing = (more: object = {}) => ({ title: 'thing', ...more });

/** An application with a resource whose attributes are of every kind. */
export function useThings() {
  const api = useTestApi({ imports: [ThingsModule] });
  /** What the API understood of a body, or the rules that it broke. */
  const understood = async (body: unknown) => expectSuccess(await api.post('/things', body), 201, 'Created');
  const refused = async (body: unknown, fields: Record<string, string | string[]>) =>
    expectError(await api.post('/things', body), 'VALIDATION_ERROR', { fields });
  return { api, understood, refused };
}
