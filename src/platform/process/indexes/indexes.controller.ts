import { Controller, Get, Header, HttpStatus, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../auth/access.decorators';
import { AnswersWhole, ApiResource } from '../../routes/route.decorators';
import { DEFAULT_VERSION, asSent, ROOT } from '../../routing/version';
import { SECONDS_PER_MINUTE } from '../../units';
import { ApiIndex } from './api-index';
import { IndexDto } from './index.dto';

/** Only another release changes an index. */
const CACHED = `public, max-age=${5 * SECONDS_PER_MINUTE}`;

@ApiResource('Index', 'Where to begin.')
@Controller()
@Public({ identifies: false })
export class IndexesController {
  constructor(private readonly index: ApiIndex) {}

  /** A browser goes on to the page for people, everybody else gets the index (D-231). */
  @Get()
  @Header('Cache-Control', CACHED)
  @ApiExcludeEndpoint()
  root(@Req() request: Request, @Res({ passthrough: true }) response: Response): IndexDto | undefined {
    const { page } = this.index;
    response.vary('Accept');
    if (page === undefined || !prefersHtml(request)) return this.index.of(DEFAULT_VERSION, '/');
    response.status(HttpStatus.SEE_OTHER).location(page).set('Content-Length', '0').end();
    return undefined;
  }

  /**
   * Lists what the API has.
   * @remarks The versions of the API, the resources of this version, and its documents. `/api` and `/` have the same
   * index; a browser is led from `/` to the documentation.
   */
  @Get('api')
  @Header('Cache-Control', CACHED)
  @AnswersWhole(IndexDto)
  get(@Req() request: Request): IndexDto {
    return this.index.of(request.version ?? DEFAULT_VERSION, asSent(ROOT, request));
  }
}

const prefersHtml = (request: Request): boolean => request.accepts(['application/json', 'text/html']) === 'text/html';
