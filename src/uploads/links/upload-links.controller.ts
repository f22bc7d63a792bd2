import { Body, Controller, Get, HttpStatus, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  AnswersWhole,
  ApiResource,
  type Caller,
  CurrentUser,
  KeyParam,
  notTheOwner,
  Produces,
  Public,
  Raises,
  Role,
  Roles,
  TakesNoKey,
} from '../../platform';
import { ANY_TYPE } from '../../platform/features';
import { tooManyOfUser } from '../admission';
import { contentGone } from '../bytes/content-gone';
import { notSatisfiable } from '../requested-range';
import { UploadContent } from '../upload-content';
import * as docs from '../upload.decorators';
import { expired } from '../upload-rows';
import { incomplete } from '../uploads.service';
import { CreateLinkDto, LinkDto } from './link.dto';
import { ApiLinkParam, LinkPipe, notALink } from './link.pipe';
import { type Link, ownerIsGone, UploadLinksService } from './upload-links.service';

@ApiResource('Uploads')
@docs.ApiTusHeaders()
@Controller('uploads/:key/links')
export class UploadLinksController {
  constructor(
    private readonly links: UploadLinksService,
    private readonly contents: UploadContent,
  ) {}

  /**
   * Creates a link to a complete upload.
   * @remarks Everybody who knows the link can read the content without a token, so that `<img>` and `<a>` can load it. The
   * link opens nothing else. It ends when it expires, when the upload is deleted, and when the owner is suspended or deleted.
   */
  @Post()
  @Roles(Role.USER)
  @AnswersWhole(LinkDto, HttpStatus.CREATED)
  @TakesNoKey('a link is soon made again, and a stored answer would keep it')
  @Raises(notTheOwner(), expired(), incomplete(), ownerIsGone())
  async create(
    @KeyParam() key: string,
    @Body() { expires_in }: CreateLinkDto,
    @CurrentUser() caller: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LinkDto> {
    const link = toLinkDto(key, await this.links.create(key, expires_in, caller), response.req);
    response.location(link.url);
    return link;
  }

  /**
   * Reads a complete upload by a link.
   * @remarks A token isn't needed, and isn't read. PNG, JPEG, GIF, WebP and AVIF images are shown; everything else comes as an
   * attachment, so that a browser saves it. A request with `Range` gets that range only.
   */
  @Get(':link')
  @Public({ identifies: false })
  @Produces(ANY_TYPE)
  @docs.ApiUploadContent()
  @ApiLinkParam()
  @Raises(notALink(), contentGone(), notSatisfiable(1_048_576), tooManyOfUser(20))
  async get(
    @KeyParam() key: string,
    @Param('link', LinkPipe) link: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.contents.send(() => this.links.open(key, link), undefined, request, response);
  }
}

/** The URL names no host: what a request says of its host is the caller's. */
const toLinkDto = (key: string, { text, expiresAt }: Link, { apiRoot }: Request): LinkDto => ({
  url: `${apiRoot}/uploads/${key}/links/${text}`,
  expires_at: expiresAt,
});
