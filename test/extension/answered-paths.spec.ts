import { All, Controller, Get, Head, HttpCode, Module, Next, Options, Post, Res, Version } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOperation } from '@nestjs/swagger';
import type { NextFunction, Response } from 'express';
import { Public } from '../../src/platform';
import { expectValid } from '../support/linted-documents';
import { useTestApi } from '../support/test-api';

/** The handler answers its name, which is its summary in the documents. */
const Named = (): MethodDecorator => (target, name, descriptor) => {
  const key = String(name);
  descriptor.value = { [key]: () => ({ answer: key }) }[key] as typeof descriptor.value;
  ApiOperation({ summary: key })(target, name, descriptor);
};

@Controller('pots')
@Public()
class PotsController {
  @Get()
  @Named()
  getBeforeAll() {}

  @All()
  @Named()
  allAfterGet() {}

  @Head('lid')
  @ApiOperation({ summary: 'headBeforeAll' })
  headBeforeAll(@Res() response: Response): void {
    response.setHeader('X-Answer', 'headBeforeAll').end();
  }

  @Options('lid')
  @HttpCode(200)
  @Named()
  optionsBeforeAll() {}

  @All('lid')
  @Named()
  lidOfAll() {}

  @Version('2')
  @Get('spout')
  @Named()
  spoutOfSecond() {}

  @All('spout')
  @Named()
  spoutOfAll() {}

  @Get('handle')
  @Named()
  handle() {}

  @Version('2')
  @All('handle')
  @Named()
  handleOfSecond() {}
}

@Controller('pans')
@Public()
class PansController {
  @Post()
  @HttpCode(200)
  @Named()
  postOfOne() {}
}

@Controller('pans')
@Public()
class OtherPansController {
  @All()
  @Named()
  allOfOther() {}
}

@Controller('cups')
@Public()
class CupsController {
  @Version('2')
  @Get('versions/:name')
  @Named()
  nameOfSecond() {}

  @Get('versions/*rest')
  @Named()
  restOfAll() {}

  @Get('name-first/:name')
  @Named()
  nameFirst() {}

  @Get('name-first/*rest')
  @Named()
  restSecond() {}

  @Get('rest-first/*rest')
  @Named()
  restFirst() {}

  @ApiOperation({ summary: 'It never answers' })
  @Get('rest-first/:name')
  nameSecond() {}

  @Get('literal-first/special')
  @Named()
  literalFirst() {}

  @Get('literal-first/:name')
  @Named()
  nameAfterLiteral() {}

  @Get('literal-second/:name')
  @Named()
  nameBeforeLiteral() {}

  @ApiOperation({ summary: 'It never answers' })
  @Get('literal-second/special')
  literalSecond() {}

  @ApiExcludeEndpoint()
  @Get('hidden/:name')
  @Named()
  hidden() {}

  @Get('hidden/*rest')
  @Named()
  restBehindHidden() {}
}

@Controller({ path: 'lids', host: 'lids.example' })
@Public()
class LidsOfHostController {
  @Get()
  @Named()
  ofHost() {}

  @Get('alone')
  @ApiOperation({ summary: 'It answers at its host' })
  alone() {}
}

@Controller('lids')
@Public()
class LidsController {
  @Get()
  @Named()
  ofEveryHost() {}

  @Get('passed')
  @ApiOperation({ summary: 'It passes on' })
  pass(@Next() next: NextFunction): void {
    next();
  }

  @Get('passed')
  @Named()
  answered() {}
}

@Controller('spoons')
@Public()
class SpoonsController {
  @All()
  @Named()
  allBeforeGet() {}

  @Get()
  @ApiOperation({ summary: 'It never answers' })
  getAfterAll() {}
}

@Module({
  controllers: [
    ...[PotsController, PansController, OtherPansController, CupsController],
    ...[LidsOfHostController, LidsController, SpoonsController],
  ],
})
class KitchenModule {}

type Item = Record<string, { summary: string }>;
/** PATCH with a body is merged, and what is asked here has none. */
const ASKED = ['get', 'post', 'put', 'delete'];

describe.each([1, 2])('The document of version %i', (version) => {
  const api = useTestApi({ imports: [KitchenModule], options: { routeConflictPolicy: { duplicate: 'warn' } } });
  let json: { paths: Record<string, Item> };
  let own: [path: string, item: Item][];

  beforeAll(async () => {
    json = (await api.get(version === 1 ? '//docs/json' : '//docs/v2/json')).body as typeof json;
    own = Object.entries(json.paths).filter(([path]) => /\/(pots|pans|cups|lids|spoons)/.test(path));
  });

  const shown = (path: string): Record<string, string> => {
    const item = json.paths[`/api/v${version}/${path}`] ?? {};
    return Object.fromEntries(Object.entries(item).map(([method, { summary }]) => [method, summary]));
  };

  it('shows for each method what answers', async () => {
    let asked = 0;
    for (const [path, item] of own) {
      for (const method of ASKED.filter((one) => item[one] && !path.endsWith('/alone'))) {
        const { body } = await api.send(method.toUpperCase(), `/${path.replaceAll(/[{}]/g, '')}`);
        expect([method, path, body.data]).toEqual([method, path, { answer: item[method].summary }]);
        asked++;
      }
    }
    expect(asked).toBeGreaterThan(20);
  });

  const others = (summary: string) => ({ post: summary, put: summary, patch: summary, delete: summary });

  it('shows a route for one method beside one for all methods', () => {
    expect(shown('pots')).toEqual({ get: 'getBeforeAll', ...others('allAfterGet') });
    expect(shown('pans')).toEqual({ get: 'allOfOther', ...others('allOfOther'), post: 'postOfOne' });
    expect(shown('spoons')).toEqual({ get: 'allBeforeGet', ...others('allBeforeGet') });
    expect(shown('pots/lid')).toEqual({
      ...{ get: 'lidOfAll', ...others('lidOfAll') },
      ...{ head: 'headBeforeAll', options: 'optionsBeforeAll' },
    });
  });

  it('shows HEAD and OPTIONS as they are answered', async () => {
    const { headers } = await api.head(`//api/v${version}/pots/lid`);
    expect(headers.get('x-answer')).toBe('headBeforeAll');
    expect((await api.options(`//api/v${version}/pots/lid`)).body.data).toEqual({ answer: 'optionsBeforeAll' });
  });

  it('shows a route of this version beside one of all versions', () => {
    const isSecond = version === 2;
    expect(shown('pots/spout')).toEqual({
      get: isSecond ? 'spoutOfSecond' : 'spoutOfAll',
      ...others('spoutOfAll'),
    });
    expect(shown('pots/handle')).toEqual(
      isSecond ? { get: 'handleOfSecond', ...others('handleOfSecond') } : { get: 'handle' },
    );
  });

  it('shows a wildcard with the segments for which it answers', () => {
    const at = Object.fromEntries(own.map(([path, { get }]) => [path.replace(/^\/api\/v\d\//, ''), get?.summary]));
    const ofCups = Object.entries(at).filter(([path]) => path.startsWith('cups'));
    expect(Object.fromEntries(ofCups)).toEqual({
      ...(version === 1
        ? { 'cups/versions/{rest}': 'restOfAll' }
        : { 'cups/versions/{name}': 'nameOfSecond', 'cups/versions/{rest}/{rest_2}': 'restOfAll' }),
      'cups/name-first/{name}': 'nameFirst',
      'cups/name-first/{rest}/{rest_2}': 'restSecond',
      'cups/rest-first/{rest}': 'restFirst',
      'cups/literal-first/special': 'literalFirst',
      'cups/literal-first/{name}': 'nameAfterLiteral',
      'cups/literal-second/{name}': 'nameBeforeLiteral',
      'cups/hidden/{rest}/{rest_2}': 'restBehindHidden',
    });
  });

  it('shows the route for every host, and one of a host where there is no other', () => {
    expect(shown('lids')).toEqual({ get: 'ofEveryHost' });
    expect(shown('lids/alone')).toEqual({ get: 'It answers at its host' });
    expect(shown('lids/passed')).toEqual({ get: 'answered' });
  });

  it('is valid', () => {
    expectValid(json);
  });
});
