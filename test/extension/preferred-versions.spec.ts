import { All, Controller, Get, Module, Next, Post, Version } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOperation } from '@nestjs/swagger';
import type { NextFunction } from 'express';
import { Public, Role, Roles } from '../../src/platform';
import { expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const ALL = { answer: 'of all versions' };
const SECOND = { answer: 'of version 2' };

@Controller('inks')
@Public()
class InksController {
  @Get()
  @ApiOperation({ summary: ALL.answer })
  list(): object {
    return ALL;
  }

  @Version('2')
  @Get()
  @ApiOperation({ summary: SECOND.answer })
  listOfSecond(): object {
    return SECOND;
  }

  @Version('2')
  @Get('declared-before')
  @ApiOperation({ summary: SECOND.answer })
  beforeOfSecond(): object {
    return SECOND;
  }

  @Get('declared-before')
  @ApiOperation({ summary: ALL.answer })
  before(): object {
    return ALL;
  }

  @Get('by-id/:id')
  @ApiOperation({ summary: ALL.answer })
  get(): object {
    return ALL;
  }

  @Get('by-id/*rest')
  @ApiExcludeEndpoint()
  rest(): object {
    return { answer: 'of a wildcard' };
  }

  @Version('2')
  @Get('by-id/:name')
  @ApiOperation({ summary: SECOND.answer })
  getOfSecond(): object {
    return SECOND;
  }

  @Get('files/*path')
  @ApiOperation({ summary: ALL.answer })
  file(): object {
    return ALL;
  }

  @Version('2')
  @Get('files/*path')
  @ApiOperation({ summary: SECOND.answer })
  fileOfSecond(): object {
    return SECOND;
  }

  @All('any-method')
  @ApiOperation({ summary: ALL.answer })
  any(): object {
    return ALL;
  }

  @Version('2')
  @Get('any-method')
  @ApiOperation({ summary: SECOND.answer })
  anyOfSecond(): object {
    return SECOND;
  }

  @Get('any-of-second')
  @ApiOperation({ summary: ALL.answer })
  one(): object {
    return ALL;
  }

  @Version('2')
  @All('any-of-second')
  @ApiOperation({ summary: SECOND.answer })
  oneOfSecond(): object {
    return SECOND;
  }
}

@Controller('pens')
@Public()
class PensController {
  @Get()
  @ApiOperation({ summary: ALL.answer })
  list(): object {
    return ALL;
  }

  @Post()
  @ApiOperation({ summary: ALL.answer })
  create(): object {
    return ALL;
  }
}

@Controller({ path: 'pens', version: '2' })
@Roles(Role.ADMIN)
class PensOfSecondController {
  @Get()
  @ApiOperation({ summary: SECOND.answer })
  list(): object {
    return SECOND;
  }
}

@Controller('nibs')
@Public()
class NibsController {
  @Get()
  list(): object {
    return ALL;
  }
}

/** Answers at another host only, or never. */
@Controller({ path: 'nibs', version: '2', host: 'nibs.example' })
@Public()
class NibsOfSecondController {
  @Get()
  list(): object {
    return SECOND;
  }
}

@Controller({ path: 'nibs', version: '2' })
@Public()
class PassingController {
  @Get()
  pass(@Next() next: NextFunction): void {
    next();
  }
}

@Module({
  controllers: [
    ...[InksController, PensController, PensOfSecondController, NibsController, NibsOfSecondController],
    PassingController,
  ],
})
class PreferredModule {}

const ofVersion2 = { Accept: 'application/vnd.api+json;version=2' };

describe('A route that names its version', () => {
  const api = useTestApi({ imports: [PreferredModule] });

  it.each([
    ...['inks', 'inks/declared-before', 'inks/by-id/7', 'inks/files/a/b', 'inks/any-method', 'inks/any-of-second'],
  ])('is preferred to one that names none, whatever their order: %s', async (path) => {
    const data = async (root: string, headers = {}) => (await api.get(`//api${root}/${path}`, headers)).body.data;

    expect(await data('/v1')).toEqual(ALL);
    expect(await data('')).toEqual(ALL);
    expect(await data('/v2')).toEqual(SECOND);
    expect(await data('', ofVersion2)).toEqual(SECOND);
  });

  it('is preferred across controllers, with its own access', async () => {
    expect((await api.get('//api/v1/pens')).body.data).toEqual(ALL);
    expectError(await api.get('//api/v2/pens'), 'UNAUTHORIZED');
    expect((await api.as(await api.admin()).get('//api/v2/pens')).body.data).toEqual(SECOND);
    const allow = async (path: string) => (await api.as(await api.user()).options(path)).headers.get('allow');
    expect(await allow('//api/v1/pens')).toBe('GET, HEAD, POST, OPTIONS');
    expect(await allow('//api/v2/pens')).toBe('POST, OPTIONS');
  });

  it('leaves other methods and other paths as they were', async () => {
    expect((await api.post('//api/v2/pens')).body.data).toEqual(ALL);
    expect((await api.post('//api/v2/inks/any-method')).body.data).toEqual(ALL);
    expect((await api.send('OPTIONS', '//api/v2/inks/any-of-second')).body.data).toEqual(SECOND);
    expect((await api.send('OPTIONS', '//api/v1/inks/any-of-second')).status).toBe(204);
    expect((await api.get('//api/v2/inks/by-id/7/8')).body.data).toEqual({ answer: 'of a wildcard' });
  });

  it('passes on what it does not answer: at another host, by next()', async () => {
    expect((await api.get('//api/v2/nibs')).body.data).toEqual(ALL);
    expect((await api.get('//api/v2/nibs', { Host: 'nibs.example' })).body.data).toEqual(SECOND);
    expect((await api.get('//api/v1/nibs', { Host: 'nibs.example' })).body.data).toEqual(ALL);
  });

  it('is the one in the document of its version', async () => {
    const summaries = async (document: string) => {
      const { paths } = (await api.get(document)).body as { paths: Record<string, { get?: { summary: string } }> };
      const own = Object.entries(paths).filter(([path]) => /v\d\/(inks|pens)/.test(path));
      return Object.fromEntries(own.map(([path, item]) => [path, item.get?.summary]));
    };
    expect(await summaries('//docs/json')).toEqual({
      '/api/v1/inks': ALL.answer,
      '/api/v1/inks/any-method': ALL.answer,
      '/api/v1/inks/any-of-second': ALL.answer,
      '/api/v1/inks/declared-before': ALL.answer,
      '/api/v1/inks/by-id/{id}': ALL.answer,
      '/api/v1/inks/files/{path}': ALL.answer,
      '/api/v1/pens': ALL.answer,
    });
    expect(await summaries('//docs/v2/json')).toEqual({
      '/api/v2/inks': SECOND.answer,
      '/api/v2/inks/any-method': SECOND.answer,
      '/api/v2/inks/any-of-second': SECOND.answer,
      '/api/v2/inks/declared-before': SECOND.answer,
      '/api/v2/inks/by-id/{name}': SECOND.answer,
      '/api/v2/inks/files/{path}': SECOND.answer,
      '/api/v2/pens': SECOND.answer,
    });
  });
});
