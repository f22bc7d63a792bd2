import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Public } from '../../auth/access.decorators';
import { headerText } from '../../docs/headers';
import { AnswersWhole, ApiAnswerHeaders, ApiResource } from '../../routes/route.decorators';
import { asSent, DEFAULT_VERSION, ROOT } from '../../routing/version';
import { ApiIndex, CACHED, linkHeader } from './api-index';
import { ApiIndexDto } from './index.dto';

const LINK = {
  description: 'The links of the index (RFC 8288): self, describedby and service-doc.',
  schema: headerText(1_024),
  example: '</api/v1>; rel="self", </docs/json>; rel="describedby", </docs>; rel="service-doc"',
};

@ApiResource('Index', 'Where to begin.')
@ApiAnswerHeaders({ Link: LINK })
@Controller('api')
@Public({ identifies: false })
export class IndexesController {
  constructor(private readonly index: ApiIndex) {}

  /**
   * Lists what the API has.
   * @remarks The versions of the API, the resources of this version, and its documents. `/api` and `/` have the same
   * index; a browser is led from `/` to the documentation.
   */
  @Get()
  @Header('Cache-Control', CACHED)
  @AnswersWhole(ApiIndexDto)
  get(@Req() request: Request, @Res({ passthrough: true }) response: Response): ApiIndexDto {
    const index = this.index.of(request.version ?? DEFAULT_VERSION, asSent(ROOT, request));
    response.setHeader('Link', linkHeader(index.links));
    return index;
  }
}
