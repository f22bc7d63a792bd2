import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString, ValidateBy } from 'class-validator';

/** A rule in words, and the function that checks a value. The message omits the value, which may be secret. */
export const CheckedSetting = (name: string, rule: string, validate: (value: unknown) => boolean): PropertyDecorator =>
  ValidateBy({ name, validator: { validate, defaultMessage: () => `$property must be ${rule}` } });

export const TextSetting = (): PropertyDecorator => applyAll(IsOptional(), IsString());

export const WholeSetting = (min: number, max = Number.MAX_SAFE_INTEGER): PropertyDecorator =>
  applyAll(
    Transform(({ value }: { value: unknown }) => (/^\d{1,16}$/.test(String(value)) ? Number(value) : value)),
    CheckedSetting('whole', `a whole number from ${min} to ${max}`, (value) => isBetween(value, min, max)),
  );

export const YesOrNoSetting = (): PropertyDecorator =>
  applyAll(
    Transform(({ value }: { value: unknown }) => ({ true: true, false: false })[String(value)] ?? value),
    IsBoolean({ message: '$property must be true or false' }),
  );

/** A list, separated by commas. */
export const ListSetting = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }): unknown =>
    Array.isArray(value)
      ? value
      : String(value)
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean),
  );

/** The directory of a socket may be in the query of the URL, which then has no host. */
export function isDatabaseUrl(value: unknown): boolean {
  return /^postgres(ql)?:\/\//.test(String(value)) && URL.canParse(String(value).replace('@/', '@socket/'));
}

function isBetween(value: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

function applyAll(...decorators: PropertyDecorator[]): PropertyDecorator {
  return (target, property) => decorators.forEach((decorate) => decorate(target, property));
}
