/** Names that a resource or an attribute can't have, by what they are. */
const words = (text: string) => new Set(text.trim().split(/\s+/));

const JAVASCRIPT = words(`
  arguments async await break case catch class const continue debugger default delete do else enum eval export extends
  false finally for from function get if implements import in instanceof interface let new null of package private
  protected public return set static super switch this throw true try type typeof undefined var void while with yield
  constructor prototype`);
// https://www.postgresql.org/docs/18/sql-keywords-appendix.html: the words that are reserved in PostgreSQL.
const SQL = words(`
  all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
  concurrently constraint create cross current_catalog current_date current_role current_schema current_time
  current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze from
  full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit localtime
  localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning
  right select session_user similar some symmetric system_user table tablesample then to trailing true union unique user
  using variadic verbose when where window with`);
/** First parts of paths that the service has itself. */
const PATHS = words('api auth docs health public v1 v2');
/** Tables without a resource. */
const TABLES = words(`
  audit-events row-counts migrations sessions product-texts order-items refresh-tokens idempotency-keys external-identities`);
/** Attributes of every resource, and parameters of its lists. */
const PLATFORM = words(`
  id created_at updated_at version deleted_at fields sort order sort_by page size limit cursor search key owner resource
  include updated_since deleted`);
/** Columns that each table of PostgreSQL has. */
const SYSTEM = words('tableoid xmin xmax cmin cmax ctid');

/** What the description of a resource for the tests imports. */
const HELPERS = words(`
  bigInteger common day decimal each email flag fixtures json moment money nested on oneOf optionally orNull plain reference manager
  references resource someOf text texts uuid webAddress whole own others lines index even dates`);

/** Classes and types that the files of a resource import, or that the document has. */
const CLASSES = words(`
  ApiError Body Caller Check Column Controller Data DataSource Delete DeleteDateColumn Entity EntityManager Error Fixtures Get Id
  IdParam IfMatch Includes Index Injectable InputOf JoinColumn ListOf ManyToOne Module Moment Money Page Patch Post Precondition
  Public Put Query QueryRunner Raises Relation Repository Resource Role Roles Text Uuid Whole Flag Decimal Answers Creates Client
  CurrentUser Object String Number Boolean Date Array Map Set Promise Symbol Function`);

export function className(name: string): string | undefined {
  return CLASSES.has(name) ? `would be the class ${name}, which its files import` : undefined;
}

export function helperName(name: string): string | undefined {
  return HELPERS.has(name) ? 'is a name of the tests' : undefined;
}

export function reservedNoun(noun: string): string | undefined {
  if (PATHS.has(noun)) return 'is a path of the service';
  if (TABLES.has(noun)) return 'is a table of the service';
  return reservedWord(noun.replaceAll('-', '_'));
}

export function platformAttribute(name: string): string | undefined {
  return PLATFORM.has(name) ? 'is an attribute or a parameter of every resource' : undefined;
}

export function reservedAttribute(name: string): string | undefined {
  // The tests of all resources send an attribute of this name to be refused.
  if (name === 'colour') return 'is the name of an unknown attribute in the tests; use color';
  if (SYSTEM.has(name)) return 'is a column that each table of PostgreSQL has';
  if (platformAttribute(name)) return platformAttribute(name);
  return reservedWord(name);
}

function reservedWord(word: string): string | undefined {
  if (SQL.has(word)) return 'is a word of SQL';
  return JAVASCRIPT.has(word) ? 'is a word of JavaScript' : undefined;
}
