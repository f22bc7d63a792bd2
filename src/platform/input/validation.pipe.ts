import {
  type ArgumentMetadata,
  Injectable,
  Optional,
  type PipeTransform,
  type Type,
  ValidationPipe as NestValidationPipe,
} from '@nestjs/common';
import type { ValidationError, ValidatorOptions } from 'class-validator';
import { type ApiError, type FieldViolation, isApiError, MAX_VIOLATIONS, validationError } from '../errors/api-error';
import { keepsRules } from './compiled-rules';
import { withDefaults } from './defaults';
import { KnownQueries } from './known-queries';
import { asPrimitive } from './primitives';
import { uncheckedNames, UNKNOWN, violationsOf } from './violations';

/** The validation groups that a route selects. */
export type Groups = Pick<ValidatorOptions, 'groups' | 'always' | 'strictGroups'>;

const VALIDATED = ['body', 'query', 'param'];

/** Validates all input: body, query and path. */
@Injectable()
export class ValidationPipe extends NestValidationPipe {
  private readonly queries = new Map<unknown, KnownQueries | undefined>();

  private readonly hasGroups: boolean;
  /** The object that was asked about last, and whether it keeps its rules. */
  private asked?: { object: object; keeps: boolean };

  constructor(@Optional() groups: Groups = {}) {
    super({
      transform: true,
      transformOptions: { exposeUnsetFields: false },
      whitelist: true,
      forbidNonWhitelisted: true,
      // The class is needed to find the name of an attribute that the client knows.
      validationError: { target: true, value: false },
      exceptionFactory: (errors) => validationError(errors.flatMap((error) => violationsOf(error))),
      ...groups,
    });
    this.hasGroups = Object.values(groups).some((given) => given !== undefined);
  }

  /** The same validation for a route with groups. */
  inGroups(groups: Groups): ValidationPipe {
    return new ValidationPipe(groups);
  }

  /** Other arguments are returned unchanged and without a promise, which Nest would have to await. */
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype, data } = metadata;
    if (!VALIDATED.includes(type)) return value as Promise<unknown>;
    if (data !== undefined && !this.toValidate(metadata)) {
      return this.transformPrimitive(value, metadata) as Promise<unknown>;
    }
    const names = uncheckedNames(value, (metatype?.prototype ?? Object.prototype) as object);
    if (names.length > 0) throw validationError(names.map((field) => ({ field, ...UNKNOWN })));
    if (data !== undefined) return this.transformPart(value, metadata, data);
    return type === 'query' ? this.transformQuery(value as object, metadata) : this.make(value, metadata);
  }

  /** A pipe for lists of such objects, which validates each like a body. */
  forListsOf(type: Type<object>): PipeTransform<unknown[]> {
    return { transform: (values) => this.transformAll(values, type) };
  }

  private transformQuery(value: object, metadata: ArgumentMetadata): Promise<unknown> {
    const known = this.toValidate(metadata) ? this.queriesOf(metadata.metatype as Type<object>) : undefined;
    if (!known) return this.make(value, metadata);
    const key = JSON.stringify(value);
    return (known.find(key) as Promise<unknown> | undefined) ?? this.transformUnknown(key, value, metadata, known);
  }

  private async transformUnknown(key: string, value: object, metadata: ArgumentMetadata, known: KnownQueries) {
    const query = (await this.make(value, metadata)) as object;
    known.keep(key, query);
    return query;
  }

  private queriesOf(type: Type<object>): KnownQueries | undefined {
    if (!this.queries.has(type)) this.queries.set(type, KnownQueries.of(type));
    return this.queries.get(type);
  }

  /** Validates one attribute of a body. */
  private async transformPart(value: unknown, metadata: ArgumentMetadata, name: string): Promise<unknown> {
    try {
      return await this.make(value, metadata);
    } catch (error) {
      throw metadata.type === 'body' ? below(name, error) : error;
    }
  }

  private async transformAll(values: unknown[], metatype: Type<object>): Promise<unknown[]> {
    const made: unknown[] = [];
    const violations: FieldViolation[] = [];
    for (const [index, value] of values.entries()) {
      if (violations.length >= MAX_VIOLATIONS) break;
      try {
        if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject();
        made.push(await this.make(value, { type: 'body', metatype }));
      } catch (error) {
        const { fields } = below(String(index), error) as ApiError;
        if (!fields) throw error;
        violations.push(...fields);
      }
    }
    if (violations.length > 0) throw validationError(violations);
    return made;
  }

  /** Nest asks before `validate()`. An object that keeps all rules has no bytes in the place of another object. */
  protected override findNestedBinaryValues(object: object, ...known: [Map<unknown, never[]>?]): ValidationError[] {
    if (known.length > 0) return super.findNestedBinaryValues(object, ...known);
    this.asked = { object, keeps: this.keeps(object) };
    return this.asked.keeps ? [] : super.findNestedBinaryValues(object);
  }

  /** class-validator is asked where it would find an error, or a route has groups: the usual object has none. */
  protected override validate(
    object: object,
    options?: ValidatorOptions,
  ): Promise<ValidationError[]> | ValidationError[] {
    const { asked } = this;
    this.asked = undefined;
    const keeps = asked?.object === object ? asked.keeps : this.keeps(object);
    return keeps ? [] : super.validate(object, options);
  }

  private keeps(object: object): boolean {
    return !this.hasGroups && keepsRules(object);
  }

  /** What is valid, with the defaults that its class declares. They come last: rules are asked about what was sent. */
  private async make(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    return withDefaults(await super.transform(value, metadata));
  }

  /** Reads numbers of a path or query as the service writes them. Nest would take 1e3, 0x10 and an empty text for numbers. */
  protected override transformPrimitive(value: unknown, { type, data, metatype }: ArgumentMetadata): unknown {
    if (data === undefined || type === 'body' || typeof value !== 'string') return value;
    return asPrimitive(value, metatype) ?? value;
  }
}

const notAnObject = (): ApiError => validationError([{ field: '', rule: 'type', message: 'must be an object' }]);

/** Prefixes the fields of an error with the name of the parent. */
function below(parent: string, error: unknown): unknown {
  if (!isApiError(error) || !error.fields) return error;
  return validationError(
    error.fields.map(({ field, ...rest }) => ({ field: [parent, field].filter(Boolean).join('.'), ...rest })),
  );
}
