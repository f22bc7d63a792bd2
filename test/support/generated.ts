import { readFileSync } from 'node:fs';
import * as estree from 'prettier/plugins/estree';
import * as typescript from 'prettier/plugins/typescript';
import { format } from 'prettier/standalone';
import { textsOf } from '../../scripts/resource/files';
import { planOf, type Wish } from '../../scripts/resource/plan';
import { existingResources } from '../../scripts/resource/project';

const options = { ...(JSON.parse(readFileSync('.prettierrc', 'utf8')) as object), parser: 'typescript' };

/** As the command formats it. Jest can't load Prettier's main module, which imports as it runs. */
export const formatted = (text: string): Promise<string> => format(text, { ...options, plugins: [estree, typescript] });

/** What the command writes for a resource, by path, also if it is there already. It isn't formatted yet. */
export function generated(wish: Wish): Map<string, string> {
  const resources = existingResources();
  return textsOf(
    planOf(wish, resources, () => false),
    1,
  );
}
