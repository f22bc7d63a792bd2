import { Controller, Delete, Get, HttpCode, HttpStatus, Options, Patch, Post, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { CurrentUser, Public, Roles } from '../../auth/access.decorators';
import { notTheOwner } from '../../auth/auth-errors';
import { type Caller, Role } from '../../auth/caller';
import { Settings } from '../../config/settings';
import { ApiAnswer, ApiItem, ApiNothing, ApiPage, ApiResource, Raises } from '../../conventions/docs/api.decorators';
import { ApiError } from '../../conventions/errors/api-error';
import { TakesNoKey } from '../../conventions/idempotency/idempotency.interceptor';
import type { Page } from '../../conventions/lists/page';
import { ANY_TYPE, Produces } from '../../conventions/requests/accept.guard';
import { KeyParam } from '../../conventions/requests/key.pipe';
import { requireExpected } from '../../database/expectation';
import { tooManyOfOne } from './admission';
import { bytesGone } from './lost-bytes';
import { tooLong, TusEndpoint } from './tus-endpoint';
import { checksumMismatch } from './tus-store';
import { ListUploadsQuery, toUploadDto, UploadDto } from './upload.dto';
import { notSatisfiable, UploadContent } from './upload-content';
import {
  SpeaksTus,
  TakesChunk,
  TakesUpload,
  TakesVersion,
  TellsContent,
  TellsOffset,
  TellsUpload,
} from './upload-docs';
import { answerOptions, describe, describeNew, notAChunk, requireChunk, requireNewUpload } from './upload-headers';
import { requireVersion, tooLarge, wrongVersion } from './upload-headers';
import { locked } from './upload-locks';
import { expired, offsetConflict, quotaExceeded } from './upload-rows';
import { incomplete, UploadsService } from './uploads.service';

const GIBIBYTE = 1024 ** 3;

@ApiResource('Uploads', 'Large files in pieces that can be resumed, by the tus 1.0.0 protocol: https://tus.io.')
@SpeaksTus()
@Controller('uploads')
export class UploadsController {
  constructor(
    private readonly uploads: UploadsService,
    private readonly tus: TusEndpoint,
    private readonly contents: UploadContent,
    private readonly settings: Settings,
  ) {}

  /** Tells what is spoken here of the tus protocol. */
  @Options()
  @Public({ identifies: false })
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiExcludeEndpoint()
  options(@Res({ passthrough: true }) response: Response): void {
    answerOptions(response, 'GET, HEAD, POST, OPTIONS', this.settings.MAX_UPLOAD_SIZE);
  }

  /** Tells what can be done with an upload. */
  @Options(':key')
  @Public({ identifies: false })
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiExcludeEndpoint()
  optionsOfOne(@Res({ passthrough: true }) response: Response): void {
    answerOptions(response, 'GET, HEAD, PATCH, DELETE, OPTIONS', this.settings.MAX_UPLOAD_SIZE);
  }

  /**
   * Lists uploads.
   * @remarks Users see their own, administrators all. `search` looks through `filename`.
   */
  @Get()
  @Roles(Role.USER)
  @ApiPage(UploadDto)
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
  @ApiItem(UploadDto)
  @TakesVersion()
  @TellsUpload(HttpStatus.OK)
  @Raises(notTheOwner(), wrongVersion(), expired())
  async get(
    @KeyParam() key: string,
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UploadDto> {
    requireVersion(request);
    const upload = await this.uploads.get(key, caller);
    describe(response, upload);
    return toUploadDto(upload);
  }

  /**
   * Downloads a complete upload.
   * @remarks Always as an attachment, never to be shown in a browser's page; one range of it where one is asked for.
   */
  @Get(':key/content')
  @Roles(Role.USER)
  @Produces(ANY_TYPE)
  @TellsContent()
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
  @ApiAnswer(UploadDto, HttpStatus.CREATED)
  @TakesUpload()
  @TakesNoKey('an upload is not created again but resumed, where HEAD says')
  @TellsUpload(HttpStatus.CREATED)
  @Raises(
    wrongVersion(),
    tooLarge(5 * GIBIBYTE),
    quotaExceeded(20 * GIBIBYTE, 20 * GIBIBYTE),
    tooLong(),
    notAChunk('POST'),
    checksumMismatch(),
    tooManyOfOne(5),
    new ApiError('INSUFFICIENT_STORAGE'),
  )
  async create(
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UploadDto> {
    requireNewUpload(request);
    const upload = await this.tus.create(request, caller);
    describeNew(response, upload);
    return toUploadDto(upload);
  }

  /**
   * Appends bytes to an upload.
   * @remarks What was received counts, also when the connection is lost in the middle: ask where to go on by HEAD.
   * A client that can't send PATCH sends POST with `X-HTTP-Method-Override: PATCH`; the same goes for DELETE.
   */
  @Patch(':key')
  @Roles(Role.USER)
  @ApiNothing()
  @TakesChunk()
  @TellsOffset()
  @Raises(
    notTheOwner(),
    wrongVersion(),
    offsetConflict(),
    expired(),
    bytesGone(),
    tooLong(),
    notAChunk('PATCH'),
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
  ): Promise<void> {
    requireChunk(request);
    const upload = await this.uploads.get(key, caller);
    // Whoever writes in between moves the offset, which is compared under the lock.
    requireExpected(upload);
    describe(response, await this.tus.append(request, upload, caller));
  }

  /** Deletes an upload, complete or not, with its bytes. */
  @Delete(':key')
  @Roles(Role.USER)
  @ApiNothing()
  @TakesVersion()
  @Raises(notTheOwner(), wrongVersion(), locked(), tooManyOfOne(5))
  async remove(@KeyParam() key: string, @CurrentUser() caller: Caller, @Req() request: Request): Promise<void> {
    requireVersion(request);
    await this.uploads.remove(key, caller);
  }
}
