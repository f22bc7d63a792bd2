import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import ts from 'typescript';
import { documentedFiles } from '../support/documented-example';

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

  it('says of each block of code where it belongs', () => {
    const blocks = page.match(/^```(ts|diff)$/gm);
    const placed = page.match(/^`[^`\n]+`:\n\n```(ts|diff)$/gm);

    expect(blocks).toHaveLength(placed!.length);
  });

  it('compiles together with the source and the tests', () => {
    const files = documentedFiles(page);

    expect([...files.keys()]).toEqual(
      expect.arrayContaining([
        'src/resources/invoices/invoices.service.ts',
        'src/app.module.ts',
        'test/support/resources/invoices.ts',
      ]),
    );
    expect(compile(files)).toEqual([]);
  });

  it('adds to files that a command makes, in folders that are there, by names that are there', () => {
    const blocks = page.matchAll(/^`([^`\n]*<[^`\n]+)`:\n\n```diff\n(.*?)^```$/gms);
    const imports = (code: string) => code.match(/(?<=^\+)import .*$/gm)!.join('\n');
    const files = [...blocks].map(([, path, code]) => ({ path: path.replace(/<\w+>/, 'made'), code: imports(code) }));

    expect(files).not.toEqual([]);
    for (const { path, code } of files) {
      expect([path, existsSync(dirname(path))]).toEqual([path, true]);
      // Of what is exported nothing has to be used.
      expect(compile(new Map([[path, code.replaceAll(/^import/gm, 'export')]]))).toEqual([]);
    }
  });

  it('imports of the platform only its faces', () => {
    const paths = [...page.matchAll(/ from '[./]*\/(?:src\/)?platform\b([^']*)'/g)].map(([, path]) => path);

    expect([...new Set(paths)].sort()).toEqual(['', '/testing']);
  });

  it('would not compile with an attribute that is not there', () => {
    const files = documentedFiles(page);
    const service = 'src/resources/invoices/invoices.service.ts';
    files.set(service, files.get(service)!.replace('filter: { user_id:', 'filter: { nothing:'));

    expect(compile(files)).toEqual([expect.stringContaining(`'nothing' does not exist`)]);
  });
});
