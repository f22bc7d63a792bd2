import { isNumber, isObject } from './attribute';

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a value has more than so many objects and lists within each other. Looks no deeper. */
export function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((child) => nestsDeeper(child, levels - 1));
}

/** Whether `jsonb` takes a value: it has no U+0000 and no lone surrogates. JSON has no number like 1e400 either. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value === 'number') return isNumber(value);
  if (Array.isArray(value)) return value.every(isStorableJson);
  return !isObject(value) || Object.entries(value).every(([name, one]) => isStorableText(name) && isStorableJson(one));
}

const isStorableText = (text: string): boolean => !text.includes('\0') && !LONE_SURROGATE.test(text);
