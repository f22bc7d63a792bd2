import { Controller, Get, Header, Module, Param, Post, Put } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
import { Public } from '../../src/platform';
import { expectValid } from '../support/linted-documents';
import { useTestApi } from '../support/test-api';

@Controller('pans')
@Public()
class PansController {
  @Get(':pan/lids/:lid')
  lid(@Param('pan') pan: string, @Param('lid') lid: string) {
    return { pan, lid };
  }

  @Get(':x/handles/:y')
  handle(@Param('x') x: string, @Param('y') y: string) {
    return { x, y };
  }
}

@Controller('pans')
@Public()
class OtherPansController {
  @Put(':id/lids/:name')
  putLid(@Param('id') id: string, @Param('name') name: string) {
    return { id, name };
  }

  @Post(':owner/lids/:part')
  @Header('Location', '/somewhere')
  @ApiOperation({ operationId: 'postLid' })
  @ApiResponse({ status: 201, links: { same: { operationId: 'postLid', parameters: { id: '$request.path.owner' } } } })
  postLid(@Param('owner') owner: string, @Param('part') part: string) {
    return { owner, part };
  }

  @Put(':y/handles/:x')
  putHandle(@Param('y') y: string, @Param('x') x: string) {
    return { x, y };
  }
}

@Module({ controllers: [PansController, OtherPansController] })
class PansModule {}

interface Operation {
  parameters: { in: string; name: string; description: string }[];
  responses: Record<string, { links?: object }>;
}

describe('A path whose routes call its parameters by different names', () => {
  const api = useTestApi({ imports: [PansModule] });
  let json: { paths: Record<string, Record<string, Operation>> };

  beforeAll(async () => {
    json = (await api.get('//docs/json')).body as typeof json;
  });

  const ofPath = ({ parameters }: Operation) =>
    parameters.filter((one) => one.in === 'path').map(({ name, description }) => [name, description]);

  it.each([
    ['pans/{id}/lids/{name}', ['get', 'post', 'put'], ['id', 'name']],
    ['pans/{x}/handles/{y}', ['get', 'put'], ['x', 'y']],
  ])('is shown once: %s', (path, methods, names) => {
    const item = json.paths[`/api/v1/${path}`];
    expect(Object.keys(item)).toEqual(methods);
    const said = names.map((name) => [name, `The ${name}.`]);
    expect(Object.values(item).map(ofPath)).toEqual(methods.map(() => said));
    const place = `/api/v1/${path}`.replaceAll(/\{\w+\}/g, '{}');
    expect(Object.keys(json.paths).filter((one) => one.replaceAll(/\{\w+\}/g, '{}') === place)).toHaveLength(1);
  });

  it('is named by its names in links and examples, too', () => {
    const { post } = json.paths['/api/v1/pans/{id}/lids/{name}'];
    expect(post.responses[201].links).toEqual({
      same: { operationId: 'postLid', parameters: { id: '$request.path.id' } },
    });
    expect(JSON.stringify(post)).not.toMatch(/owner|part\b/);
  });

  it('makes a valid document', () => {
    expectValid(json);
  });
});
