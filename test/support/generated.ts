import { existsSync, readFileSync } from 'node:fs';
import * as estree from 'prettier/plugins/estree';
import * as typescript from 'prettier/plugins/typescript';
import { format } from 'prettier/standalone';
import { textsOf } from '../../scripts/resource/files';
import { planOf, type Wish } from '../../scripts/resource/plan';
import { existingResources, RESOURCES } from '../../scripts/resource/project';

const options = { ...(JSON.parse(readFileSync('.prettierrc', 'utf8')) as object), parser: 'typescript' };

/** As the command formats it. Jest can't load Prettier's main module, which imports as it runs. */
export const formatted = (text: string): Promise<string> => format(text, { ...options, plugins: [estree, typescript] });

/** Where the examples are once the service is without them. */
const EXAMPLES = 'test/support/examples';

/** The resources of the service, and those of the tests. */
export const resources = (): ReturnType<typeof existingResources> =>
  existingResources([RESOURCES, `${EXAMPLES}/resources`].filter((root) => existsSync(root)));

/** A file of an example, as it is in the service. */
export const exampleText = (path: string): string =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
    : readFileSync(path.replace(/^src/, EXAMPLES), 'utf8')
        .replaceAll(/'(?:\.\.\/)+src\/resources\//g, "'../")
        .replaceAll(/'(?:\.\.\/)+src\//g, "'../../");

/** What the command writes for a resource, by path, also if it is there already. It isn't formatted yet. */
export function generated(wish: Wish): Map<string, string> {
  return textsOf(
    planOf(wish, resources(), () => false),
    1,
  );
}
