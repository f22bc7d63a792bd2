import { Controller, Delete, Get, HttpStatus, Patch, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  Answers,
  AnswersNothing,
  AnswersPage,
  AnswersWhole,
  ANY_TYPE,
  ApiError,
  ApiResource,
  type Caller,
  CurrentUser,
  IfMatch,
  KeyParam,
  notTheOwner,
  type Page,
  type Precondition,
  Produces,
  Raises,
  requireExpected,
  Role,
  Roles,
  TakesNoKey,
} from '../platform';
import { tooManyOfOne } from './admission';
import { bytesGone } from './bytes/lost-bytes';
import { tooLong, TusEndpoint } from './tus/tus-endpoint';
import { checksumMismatch } from './tus/tus-store';
import { ListUploadsQuery, toUploadDto, UploadDto } from './upload.dto';
import { notSatisfiable, UploadContent } from './upload-content';
import * as docs from './upload-docs';
import * as headers from './tus/upload-headers';
import { locked } from './tus/upload-locks';
import { expired, offsetConflict, quotaExceeded } from './upload-rows';
import { incomplete, UploadsService } from './uploads.service';

const GIBIBYTE = 1024 ** 3;

@ApiResource('Uploads', 'Large files in pieces that can be resumed, by the tus 1.0.0 protocol: https://tus.io.')
@docs.ApiTusHeaders()
@Controller('uploads')
export class UploadsController {
  constructor(
    private readonly uploads: UploadsService,
    private readonly tus: TusEndpoint,
    private readonly contents: UploadContent,
  ) {}

  /**
   * Lists uploads.
   * @remarks Users see their own, administrators all. `search` looks through `filename`.
   */
  @Get()
  @Roles(Role.USER)
  @AnswersPage(UploadDto)
  @Raises(notTheOwner())
  async list(@Query() query: ListUploadsQuery, @CurrentUser() caller: Caller): Promise<Page<object>> {
    return (await this.uploads.list(query, caller)).map(toUploadDto);
  }

  /**
   * Reads one upload.
   * @remarks By HEAD it is what a client of the protocol asks before it goes on: `Upload-Offset` says where.
   */
  @Get(':key')
  @Roles(Role.USER)
  @Answers(UploadDto)
  @docs.TakesVersion()
  @docs.TellsUpload(HttpStatus.OK)
  @Raises(notTheOwner(), headers.wrongVersion(), expired())
  async get(
    @KeyParam() key: string,
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UploadDto> {
    headers.requireVersion(request);
    const upload = await this.uploads.get(key, caller);
    headers.describe(response, upload);
    return toUploadDto(upload);
  }

  /**
   * Downloads a complete upload.
   * @remarks Always as an attachment, never to be shown in a browser's page; one range of it where one is asked for.
   */
  @Get(':key/content')
  @Roles(Role.USER)
  @Produces(ANY_TYPE)
  @docs.TellsContent()
  @Raises(notTheOwner(), expired(), bytesGone(), incomplete(), notSatisfiable(1_048_576), tooManyOfOne(20))
  async getContent(
    @KeyParam() key: string,
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.contents.send(await this.uploads.getComplete(key, caller), caller, request, response);
  }

  /**
   * Creates an upload.
   * @remarks The body may bring its first bytes. All of them together take their room in the quota at once, until it is deleted or
   * expires. A user has 20 GiB and 10,000 uploads, and an upload 5 GiB at most, unless whoever runs this has set other limits.
   */
  @Post()
  @Roles(Role.USER)
  @AnswersWhole(UploadDto, HttpStatus.CREATED)
  @docs.TakesUpload()
  @TakesNoKey('an upload is not created again but resumed, where HEAD says')
  @docs.TellsUpload(HttpStatus.CREATED)
  @Raises(
    headers.wrongVersion(),
    headers.tooLarge(5 * GIBIBYTE),
    quotaExceeded(20 * GIBIBYTE, 20 * GIBIBYTE),
    tooLong(),
    headers.notAChunk('POST'),
    checksumMismatch(),
    tooManyOfOne(5),
    new ApiError('INSUFFICIENT_STORAGE'),
  )
  async create(
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UploadDto> {
    headers.requireNewUpload(request);
    const upload = await this.tus.create(request, caller);
    headers.describeNew(response, upload);
    return toUploadDto(upload);
  }

  /**
   * Appends bytes to an upload.
   * @remarks What was received counts, also when the connection is lost in the middle: ask where to go on by HEAD.
   * A client that can't send PATCH sends POST with `X-HTTP-Method-Override: PATCH`; the same goes for DELETE.
   */
  @Patch(':key')
  @Roles(Role.USER)
  @AnswersNothing()
  @docs.ApiTusChunk()
  @docs.ApiTusOffset()
  @Raises(
    notTheOwner(),
    headers.wrongVersion(),
    offsetConflict(),
    expired(),
    bytesGone(),
    tooLong(),
    headers.notAChunk('PATCH'),
    locked(),
    checksumMismatch(),
    tooManyOfOne(5),
    new ApiError('INSUFFICIENT_STORAGE'),
  )
  async append(
    @KeyParam() key: string,
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @IfMatch() expected?: Precondition,
  ): Promise<void> {
    headers.requireChunk(request);
    const upload = await this.uploads.get(key, caller);
    // Whoever writes in between moves the offset, which is compared under the lock.
    requireExpected(upload, expected);
    headers.describe(response, await this.tus.append(request, upload, caller));
  }

  /** Deletes an upload, complete or not, with its bytes. */
  @Delete(':key')
  @Roles(Role.USER)
  @AnswersNothing()
  @docs.TakesVersion()
  @Raises(notTheOwner(), headers.wrongVersion(), locked(), tooManyOfOne(5))
  async remove(
    @KeyParam() key: string,
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @IfMatch() expected?: Precondition,
  ): Promise<void> {
    headers.requireVersion(request);
    await this.uploads.remove(key, caller, request, expected);
  }
}
