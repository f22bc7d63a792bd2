import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import ts from 'typescript';
import { documentedFiles, documentedWish } from '../support/documented-example';
import { formatted, generated } from '../support/generated';

const PAGE = 'docs/adding-a-resource.md';

/** What the compiler says of files that are not there, beside those that are. */
function compile(files: Map<string, string>): string[] {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, '.');
  const host = ts.createCompilerHost(options);
  const shown = new Map([...files].map(([path, text]) => [resolve(path), text]));
  const there = { ...host };
  const folders = new Set([...shown.keys()].map((path) => dirname(path)));
  host.readFile = (path) => shown.get(resolve(path)) ?? there.readFile(path);
  host.fileExists = (path) => shown.has(resolve(path)) || there.fileExists(path);
  host.directoryExists = (path) => folders.has(resolve(path)) || ts.sys.directoryExists(path);
  host.getSourceFile = (path, ...rest) => {
    const text = shown.get(resolve(path));
    return text === undefined ? there.getSourceFile(path, ...rest) : ts.createSourceFile(path, text, rest[0]);
  };
  const program = ts.createProgram([...shown.keys()], { ...options, noEmit: true, incremental: false }, host);
  return [...shown.keys()].flatMap((path) => {
    const source = program.getSourceFile(path)!;
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
  });
}

/** Where it was followed, it has nothing more to say. */
const unlessFollowed = existsSync('src/resources/invoices') ? describe.skip : describe;

unlessFollowed('The example of how to add a resource', () => {
  const page = readFileSync(PAGE, 'utf8');
  let written: Map<string, string>;

  beforeAll(async () => {
    const files = [...generated(documentedWish(page)!)];
    written = new Map(await Promise.all(files.map(async ([path, text]) => [path, await formatted(text)] as const)));
  });

  it('says of each block of code where it belongs', () => {
    const blocks = page.match(/^```(ts|diff)$/gm);
    const placed = page.match(/^`[^`\n]+`:\n\n```(ts|diff)$/gm);

    expect(blocks).toHaveLength(placed!.length);
  });

  it('changes what the command writes, and compiles with it', () => {
    const files = documentedFiles(page, written);
    const changed = [...files.keys()].filter((path) => files.get(path) !== written.get(path));

    expect(changed).toEqual(
      expect.arrayContaining([
        'src/resources/invoices/invoice.dto.ts',
        'src/resources/invoices/invoices.service.ts',
        'src/resources/invoices/invoices.controller.ts',
        'test/support/resources/invoices.ts',
        'test/resources/invoices.spec.ts',
      ]),
    );
    expect(compile(files)).toEqual([]);
  });

  it('would not compile with an attribute that is not there', () => {
    const files = documentedFiles(page, written);
    const service = 'src/resources/invoices/invoices.service.ts';
    files.set(service, files.get(service)!.replace('filter: { user_id:', 'filter: { nothing:'));

    expect(compile(files)).toEqual([expect.stringContaining(`'nothing' does not exist`)]);
  });
});
