import { registerAs } from '@nestjs/config';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { contradictions } from './contradictions';
import { Settings } from './settings';
import { StartupError } from './startup-error';

/** Thrown at the start; its message lists everything that is wrong. A rejected value is not repeated: it may be secret. */
export class SettingsError extends StartupError {
  constructor(readonly problems: string[]) {
    super(`These settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** @throws {SettingsError} */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  // A variable set to nothing, as compose files do, counts as unset.
  const given = settingNames().filter((name) => environment[name] !== undefined && environment[name] !== '');
  const values = Object.fromEntries(given.map((name) => [name, environment[name]]));
  const settings = plainToInstance(Settings, values, { exposeUnsetFields: false });
  const broken = validateSync(settings).flatMap(({ constraints }) => Object.values(constraints ?? {}));
  const problems = [...broken, ...contradictions(settings)];
  if (problems.length > 0) throw new SettingsError(problems);
  return settings;
}

/** The names of all environment variables that mean something here. */
export function settingNames(): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(Settings, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}

/** The one place where the environment is read. */
export const environmentSettings = registerAs('settings', () => readSettings(process.env));
