import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  ApiResource,
  type Caller,
  CurrentUser,
  KeyParam,
  notTheOwner,
  Produces,
  Public,
  Raises,
  ReadsPrimary,
} from '../platform';
import { AuthenticationError } from '../platform/accounts';
import { ANY_TYPE } from '../platform/features';
import { tooManyOfUser } from './admission';
import { contentGone } from './bytes/content-gone';
import { ofReader } from './content-terms';
import { notSatisfiable } from './requested-range';
import { type Opened, UploadContent } from './upload-content';
import * as docs from './upload.decorators';
import { expired } from './upload-rows';
import { incomplete, UploadsService } from './uploads.service';

@ApiResource('Uploads')
@docs.ApiTusHeaders()
// The bytes are those of the primary's row.
@ReadsPrimary()
@Controller('uploads/:key/content')
export class UploadContentController {
  constructor(
    private readonly uploads: UploadsService,
    private readonly contents: UploadContent,
  ) {}

  /**
   * Reads a complete upload.
   * @remarks Everybody may read a public upload, without a token. PNG, JPEG, GIF, WebP and AVIF images that are public are
   * shown. Everything else comes as an attachment, so that a browser saves it. A request with `Range` gets that range only.
   */
  @Get()
  @Public()
  @Produces(ANY_TYPE)
  @docs.ApiUploadContent()
  @Raises(
    AuthenticationError.noToken(),
    notTheOwner(),
    expired(),
    contentGone(),
    incomplete(),
    notSatisfiable(1_048_576),
    tooManyOfUser(20),
  )
  async get(
    @KeyParam() key: string,
    @Req() request: Request,
    @Res() response: Response,
    @CurrentUser() caller?: Caller,
  ): Promise<void> {
    await this.contents.send(() => this.open(key, caller), caller, request, response);
  }

  private async open(key: string, caller: Caller | undefined): Promise<Opened> {
    const upload = await this.uploads.getContentOf(key, caller);
    return { upload, terms: ofReader(upload, caller) };
  }
}
