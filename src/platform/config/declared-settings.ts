import type { FactoryProvider, Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { Settings } from './settings';

/** A condition that is wrong, and its message: `[true, 'S3_BUCKET and S3_REGION go together']`. */
export type Contradiction = [wrong: boolean, message: string];

export interface DeclareSettingsOptions<T> {
  /** Checks combinations of values that are valid on their own. Default: no check */
  contradictions?: (own: T, settings: Settings) => Contradiction[];
}

type Contradictions = Required<DeclareSettingsOptions<object>>['contradictions'];

const declared = new Map<Type<object>, Contradictions>();
const read = new WeakMap<Settings, Map<Type<object>, object>>();

/**
 * Adds a module's own settings to those of the service: all of them are read and checked together before the
 * application is made. Each property is an environment variable with a rule; its initial value is the default. Add the
 * returned provider to the module: it provides an instance of the class.
 *
 *     export class NoteSettings {
 *       @WholeSetting(1)
 *       NOTES_PER_USER = 100;
 *     }
 *
 *     @Module({ providers: [declareSettings(NoteSettings), NotesService] })
 *
 * @throws {Error} for a class without a rule, and for a variable that is declared already
 */
export function declareSettings<T extends object>(
  type: Type<T>,
  { contradictions = () => [] }: DeclareSettingsOptions<T> = {},
): FactoryProvider<T> {
  const names = namesIn(type);
  if (names.length === 0) throw new Error(`${type.name} has no property with a rule, such as WholeSetting()`);
  const known = settingNames();
  const taken = names.find((name) => known.includes(name));
  if (taken !== undefined) throw new Error(`The setting ${taken} of ${type.name} is declared already`);
  declared.set(type, contradictions as Contradictions);
  return { provide: type, inject: [Settings], useFactory: (settings: Settings) => settingsOf(settings, type) };
}

/** The settings that modules have declared so far. */
export function declaredSettings(): [type: Type<object>, contradictions: Contradictions][] {
  return [...declared];
}

/** Keeps the modules' settings that were read together with the settings of the service. */
export function keepWith(settings: Settings, own: Map<Type<object>, object>): void {
  read.set(settings, own);
}

/** The settings of a module, which were read together with the settings of the service. */
export function settingsOf<T extends object>(settings: Settings, type: Type<T>): T {
  const own = read.get(settings)?.get(type);
  if (own === undefined) throw new Error(`${type.name} was declared after the settings had been read`);
  return own as T;
}

/** The rules of all settings: the name of the variable and the name of the rule. */
export function settingRules(): { propertyName: string; name?: string }[] {
  return [Settings, ...declared.keys()].flatMap(rulesIn);
}

/** The names of all environment variables that are settings. */
export function settingNames(): string[] {
  return [...new Set(settingRules().map(({ propertyName }) => propertyName))];
}

export function namesIn(type: Type<object>): string[] {
  return [...new Set(rulesIn(type).map(({ propertyName }) => propertyName))];
}

function rulesIn(type: Type<object>) {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
}
