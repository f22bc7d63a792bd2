// npm run resource -- add | list | remove
import { parseArgs } from 'node:util';
import { folderOf, VERSIONS } from '../openapi/documents';
import { isApplied } from './applied';
import { filesOf, nextTime, write, writeDocuments } from './add';
import { ask, commandOf } from './ask';
import { planOf, Refusal } from './plan';
import { existingResources } from './project';
import { removalOf, remove, requireUntouched } from './remove';
import { described, moveExamples, moveOfExamples } from './remove-examples';
import { requireCommitted } from './uncommitted';

const USAGE = `npm run resource -- add [NOUN ATTRIBUTE... [OPTION...]], which asks for what is missing
npm run resource -- list
npm run resource -- remove NOUN
npm run resource -- remove --examples

An attribute is name:kind, then ? if it may be null, !unique, and =default:
  npm run resource -- add invoices 'number:text(9)!unique' amount:money 'note:lines(1000)?' 'status:OPEN|PAID=OPEN'

  --in posts                   nests the collection below a parent
  --owner                      gives each row an owner. Only the owner and administrators see and change it
  --singular person            names one of them, if the noun is no regular plural, such as people
  --read public|user|admin     says who may read. Default: public, the readers of the parent, or the owner
  --write user|admin           says who may write. Default: admin, or the owner
  --soft-delete                hides deleted rows and keeps them
  --no-search                  leaves the search out
  --dry-run                    lists the files, and changes nothing
  --no-documents               leaves the OpenAPI documents to npm run openapi
  --examples                   leaves the products, orders, posts, comments and replies to the tests
  --force                      removes a resource together with changes that are not committed`;

const OPTIONS = {
  in: { type: 'string' },
  singular: { type: 'string' },
  owner: { type: 'boolean' },
  read: { type: 'string' },
  write: { type: 'string' },
  'soft-delete': { type: 'boolean' },
  'no-search': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'no-documents': { type: 'boolean' },
  examples: { type: 'boolean' },
  force: { type: 'boolean' },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const [command, noun, ...attributes] = positionals;
  if (command === 'list') return list();
  if (command === 'remove' && values.examples && noun === undefined) return removingExamples(values);
  if (command === 'remove' && !values.examples && noun !== undefined && attributes.length === 0)
    return removing(noun, values);
  if (command !== 'add') throw new Refusal([`This is how it is used:\n${USAGE}`]);
  const { 'soft-delete': softDelete, 'no-search': noSearch, 'dry-run': dryRun } = values;
  const resources = existingResources();
  const given = { ...values, noun, attributes, softDelete, search: noSearch ? false : undefined };
  const isWhole = noun !== undefined && attributes.length > 0;
  if (!isWhole && !process.stdin.isTTY) throw new Refusal([`This is how it is used:\n${USAGE}`]);
  const wish = isWhole ? given : await ask(given, resources);
  if (!isWhole) console.log(`${commandOf(wish)}\n`);
  const plan = planOf(wish, resources);
  const files = await filesOf(plan, nextTime());
  const documents = values['no-documents'] ? [] : documentsOf(plan.names.noun);
  const shown = [...files.keys(), ...documents].sort();
  if (dryRun) return console.log(`These files would be written or changed:\n${shown.join('\n')}`);
  write(files);
  if (!values['no-documents']) writeDocuments();
  console.log(`These files were written or changed:\n${shown.join('\n')}`);
}

interface Options {
  'dry-run'?: boolean;
  'no-documents'?: boolean;
  force?: boolean;
}

async function removing(noun: string, options: Options): Promise<void> {
  const removal = await removalOf(noun, existingResources(), isApplied);
  const parts = options['no-documents'] ? [] : documentsOf(noun);
  const gone = [...removal.gone, ...parts].sort();
  const shown = `These go:\n${gone.join('\n')}\nThese change:\n${[...removal.changed.keys()].join('\n')}`;
  if (options['dry-run']) return console.log(shown);
  if (!options.force) requireUntouched(removal);
  remove(removal);
  if (!options['no-documents']) writeDocuments();
  console.log(shown);
}

async function removingExamples(options: Options): Promise<void> {
  const move = await moveOfExamples(isApplied);
  if (options['dry-run']) return console.log(described(move));
  requireCommitted();
  moveExamples(move);
  if (!options['no-documents']) writeDocuments();
  console.log(described(move));
}

/** The parts of the documents that only this resource has. */
const documentsOf = (noun: string): string[] => VERSIONS.map((version) => `${folderOf(version)}/${noun}.json`);

function list(): void {
  for (const { names, read } of existingResources()) console.log(`${names.noun.padEnd(30)} read by ${read}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Refusal ? `Nothing was changed:\n${error.message}` : error);
  process.exitCode = 1;
});
