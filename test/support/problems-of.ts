import { readSettings, type SettingsError } from '../../src/platform/config/read-settings';

/** What the start would refuse about these settings. */
export function problemsOf(environment: Record<string, string>): string[] {
  try {
    readSettings(environment);
    return [];
  } catch (error) {
    return (error as SettingsError).problems;
  }
}
