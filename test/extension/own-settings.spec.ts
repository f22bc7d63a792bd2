import { Controller, Get, Module } from '@nestjs/common';
import {
  CheckedSetting,
  declareSettings,
  Public,
  type SettingsError,
  TextSetting,
  WholeSetting,
} from '../../src/platform';
import { expectSuccess, readSettings } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

class NoteSettings {
  @WholeSetting(1, 1_000)
  NOTES_PER_USER = 100;

  @TextSetting()
  NOTE_AUTHOR?: string;

  @CheckedSetting('paper', 'a format such as A4', (value) => /^A\d$/.test(String(value)))
  NOTE_PAPER = 'A4';

  get author(): string {
    return this.NOTE_AUTHOR ?? 'nobody';
  }
}

@Controller('notes')
@Public()
class NotesController {
  constructor(private readonly settings: NoteSettings) {}

  @Get('settings')
  get() {
    const { NOTES_PER_USER, NOTE_PAPER, author } = this.settings;
    return { NOTES_PER_USER, NOTE_PAPER, author };
  }
}

@Module({
  controllers: [NotesController],
  providers: [
    declareSettings(NoteSettings, {
      contradictions: ({ NOTE_AUTHOR }, { production }) => [
        [production && !NOTE_AUTHOR, 'NOTE_AUTHOR must be set in production'],
      ],
    }),
  ],
})
class NotesModule {}

describe('Settings that a module declares', () => {
  const api = useTestApi({ imports: [NotesModule], settings: { NOTES_PER_USER: '7', NOTE_PAPER: '' } });

  it('are read with their defaults, and given to what the module injects them into', async () => {
    const answer = await api.get('/notes/settings');

    expectSuccess(answer);
    expect(answer.body.data).toEqual({ NOTES_PER_USER: 7, NOTE_PAPER: 'A4', author: 'nobody' });
  });

  it('are checked together with those of the service', () => {
    const environment = { PORT: 'http', NOTES_PER_USER: '0', NOTE_PAPER: 'legal', NODE_ENV: 'production' };
    const enough = { DATABASE_URL: 'postgres://db/x', JWT_SECRET: 'x'.repeat(32), TRUST_PROXY: '1' };

    expect(problemsOf({ ...environment, ...enough })).toEqual([
      'PORT must be a whole number from 0 to 65535',
      'NOTES_PER_USER must be a whole number from 1 to 1000',
      'NOTE_PAPER must be a format such as A4',
      'NOTE_AUTHOR must be set in production',
    ]);
  });

  it('are refused without a rule, and under the name of another setting', () => {
    class NoSettings {
      NOTES_FOREVER = true;
    }
    class PortSettings {
      @WholeSetting(1)
      PORT = 1;
    }
    class AgainSettings {
      @WholeSetting(1)
      NOTES_PER_USER = 1;
    }

    expect(() => declareSettings(NoSettings)).toThrow('NoSettings has no property with a rule');
    expect(() => declareSettings(PortSettings)).toThrow('The setting PORT of PortSettings is declared already');
    expect(() => declareSettings(AgainSettings)).toThrow('The setting NOTES_PER_USER of AgainSettings is declared');
  });

  it('can not be declared when the settings have been read', () => {
    const settings = readSettings({});
    class LateSettings {
      @WholeSetting(1)
      NOTES_TOO_LATE = 1;
    }
    const { useFactory } = declareSettings(LateSettings);

    expect(() => useFactory(settings) as object).toThrow('LateSettings was declared after the settings had been read');
  });
});

function problemsOf(environment: Record<string, string>): string[] {
  try {
    readSettings(environment);
    return [];
  } catch (error) {
    return (error as SettingsError).problems;
  }
}
