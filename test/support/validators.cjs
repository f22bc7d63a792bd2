// Compiled schemas. shared-scripts.cjs loads this module once for all test files of a worker, outside of them: the files
// check their answers against the same documents, and ajv takes longest to compile them. Values go in, and texts come out.
const { default: Ajv2020 } = require('ajv/dist/2020');
const { default: addFormats } = require('ajv-formats');

/** What JSON Schema has no words for: the decimals of a number, and the bytes of an object. */
const OWN_KEYWORDS = [
  {
    keyword: 'x-decimals',
    type: 'number',
    validate: (decimals, value) => Number(value.toFixed(decimals)) === value,
  },
  {
    keyword: 'x-max-bytes',
    type: 'object',
    validate: (bytes, value) => Buffer.byteLength(JSON.stringify(value)) <= bytes,
  },
];

/** By the text of the schemas of a document. */
const kept = new Map();

/**
 * Returns a function that compiles the text of a schema. Its references are names of the given schemas.
 * @param {string} schemas the text of all schemas of a document, by name
 * @param {boolean} checked true if another test checks the schemas: compiling the schema of schemas takes long
 */
exports.compilerOf = (schemas, checked) => {
  // Other documents are of one file alone, and some of them are large.
  if (!checked) return makeCompiler(schemas, checked);
  if (!kept.has(schemas)) kept.set(schemas, makeCompiler(schemas, checked));
  return kept.get(schemas);
};

function makeCompiler(schemas, checked) {
  // Strict: unknown keywords are errors. Optimized validators take longer to make than they save.
  const options = { allErrors: true, allowUnionTypes: true, code: { optimize: false } };
  const ajv = addFormats(new Ajv2020({ ...options, meta: !checked, validateSchema: !checked }));
  // Names in XML, which JSON has not.
  ajv.addKeyword('xml');
  for (const keyword of OWN_KEYWORDS) ajv.addKeyword(keyword);
  for (const [name, schema] of Object.entries(local(schemas))) ajv.addSchema({ ...schema, $id: name });
  /** By the text of the schema: most headers and errors are the same in all operations. */
  const compiled = new Map();
  return (text) => {
    if (!compiled.has(text)) compiled.set(text, ajv.compile(local(text)));
    return compiled.get(text);
  };
}

/** The same schemas with references that ajv can resolve. */
function local(text) {
  return JSON.parse(text.replaceAll('#/components/schemas/', ''));
}
