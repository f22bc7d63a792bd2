import type { Node } from './openapi';

/** The query parameters of a list. */
export const parametersOf = (document: Node, name: string, version = 'v1'): Node[] => {
  const path = Object.keys(document.paths as object).find(
    (one) => one.replace(/\{\w+\}/, '{id}') === `/api/${version}${name}`,
  )!;
  return (document.paths[path].get.parameters as Node[]).filter((one) => one.in === 'query');
};

/** The parameters of a list that are lists themselves. */
export const listsOf = (document: Node, name: string): string[] =>
  parametersOf(document, name)
    .filter(({ schema }) => schema.type === 'array')
    .map((parameter) => parameter.name as string);

/** The filters of a list by their attributes: the parts of each, or none where it is compared with one value. */
export function filtersOf(document: Node, name: string, attributes: string[]): Map<string, string[]> {
  const own = parametersOf(document, name).filter((one) => attributes.includes(one.name.split('[')[0] as string));
  const found = new Map<string, string[]>();
  for (const { name: parameter, style, schema } of own) {
    const [attribute, part] = (parameter as string).split(/[[\]]/);
    if (style !== 'deepObject' && !part) found.set(attribute, ['']);
    else {
      const parts = style === 'deepObject' ? Object.keys(schema.properties as object) : [part];
      found.set(attribute, [...(found.get(attribute) ?? []), ...parts]);
    }
  }
  // The status is asked in every-collection.spec.ts. That an upload has a `size` too doesn't make the page's a filter.
  for (const parameter of ['status', 'size']) found.delete(parameter);
  return found;
}
