import type { Changes, ChangesOptions } from './changes.js';
import type { DataOf, OperationAt } from './paths.js';

/** A change as the documents have it. */
type Told<Paths> =
  DataOf<OperationAt<Paths, '/changes', 'GET'>> extends { changes: readonly (infer Change)[] } ? Change : never;

/** The resources by the names of their types: those whose items have a path of their own. */
type Resources<Paths, Collections extends Record<string, { item: string | null }>> = {
  [
    List in keyof Collections as List extends `/${infer Type}`
      ? Collections[List]['item'] extends string
        ? Type
        : never
      : never
  ]: DataOf<OperationAt<Paths, Collections[List]['item'], 'GET'>>;
};

/** A change of one of some types. Its type tells what its resource is. */
type ChangeOf<Change, Type> = Type extends string ? Omit<Change, 'type' | 'resource'> & { type: Type } : never;
type WithResource<Change, Items, Type> = Type extends keyof Items
  ? ChangeOf<Change, Type> & { resource: Items[Type] | null }
  : never;

/** `for await (const change of client.changes({ from }))`. */
export interface ReadChanges<
  Paths,
  Collections extends Record<string, { item: string | null }>,
  Items = Resources<Paths, Collections>,
> {
  /** What has changed since a mark, with the resources as they are now. */
  <const Type extends keyof Items = keyof Items>(
    options: ChangesOptions<Type> & { include: 'resource' },
  ): Changes<WithResource<Told<Paths>, Items, Type>>;
  /**
   * What has changed since a mark, in its order, and then what changes from now on. `ApiError` CHANGES_EXPIRED (410) says
   * that the mark is too old: read everything again.
   */
  <const Type extends keyof Items = keyof Items>(options?: ChangesOptions<Type>): Changes<ChangeOf<Told<Paths>, Type>>;
}
