import type { Type } from '@nestjs/common';
import { registerAs } from '@nestjs/config';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { contradictions } from './contradictions';
import { declaredSettings, keepWith, namesIn } from './declared-settings';
import { Settings } from './settings';
import { StartupError } from './startup-error';

type Environment = Record<string, string | undefined>;

/** Thrown at the start. Its message lists all wrong settings. It never contains their values, which may be secret. */
export class SettingsError extends StartupError {
  constructor(readonly problems: string[]) {
    super(`These settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/**
 * Reads the settings of the service, and the settings that modules have declared; see settingsOf().
 * @throws {SettingsError}
 */
export function readSettings(environment: Environment): Settings {
  const settings = valuesOf(Settings, environment);
  const declared = declaredSettings().map(([type, contradicts]) => {
    const own = valuesOf(type, environment);
    return { type, own, contradictions: () => contradicts(own, settings) };
  });
  const broken = [settings, ...declared.map(({ own }) => own)].flatMap(brokenRules);
  const contradicting = [...contradictions(settings), ...declared.flatMap((one) => one.contradictions())];
  const problems = [...broken, ...contradicting.flatMap(([wrong, message]) => (wrong ? [message] : []))];
  if (problems.length > 0) throw new SettingsError(problems);
  keepWith(settings, new Map(declared.map(({ type, own }) => [type, own])));
  return settings;
}

function valuesOf<T extends object>(type: Type<T>, environment: Environment): T {
  // An empty variable counts as unset: compose files set variables to nothing.
  const given = namesIn(type).filter((name) => environment[name] !== undefined && environment[name] !== '');
  const values = Object.fromEntries(given.map((name) => [name, environment[name]]));
  return plainToInstance(type, values, { exposeUnsetFields: false });
}

function brokenRules(settings: object): string[] {
  return validateSync(settings).flatMap(({ constraints }) => Object.values(constraints ?? {}));
}

/** The only place where the service reads its environment. */
export const environmentSettings = registerAs('settings', () => readSettings(process.env));
