import { Body, Controller, Delete, Header, HttpStatus, Ip, Post, Put } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import {
  AnswersNothing,
  AnswersWhole,
  ApiResource,
  BodyLimit,
  kibibytes,
  Public,
  Raises,
  TakesNoKey,
} from '../../platform';
import { AuthenticationError } from '../../platform/accounts';
import { TooManyFailures } from './sign-in-limits';
import { CredentialsDto, RefreshDto, TokensDto, toTokensDto } from './token.dto';
import { TokensService } from './tokens.service';

@ApiResource('Tokens', 'Signing in, staying signed in, and signing out.')
@Controller('auth/tokens')
@BodyLimit(kibibytes(16))
@Public({ identifies: false })
export class TokensController {
  constructor(private readonly tokens: TokensService) {}

  /**
   * Signs in: exchanges a password for a pair of tokens.
   * @remarks Send the access token as `Authorization: Bearer ...` with every other request. When it has expired, exchange
   * the refresh token for the next pair. A wrong password and an unknown user get the same answer.
   */
  @Post()
  @ApiOperation({ operationId: 'signIn' })
  @Header('Cache-Control', 'no-store')
  @AnswersWhole(TokensDto, HttpStatus.CREATED)
  @TakesNoKey('the answer holds secrets, which are not stored')
  @Raises(AuthenticationError.wrongCredentials(), new TooManyFailures('account_and_address', 42))
  async create(@Body() input: CredentialsDto, @Ip() address: string | undefined): Promise<TokensDto> {
    return toTokensDto(await this.tokens.signIn(input, address));
  }

  /**
   * Stays signed in: exchanges a refresh token for a new pair.
   * @remarks Each refresh token can be exchanged once. For ten seconds after the exchange the spent token is only refused, and
   * `details` and the `error_description` of `WWW-Authenticate` say so: another tab, or an answer that was lost, has the new
   * tokens. A refresh token that is sent again later counts as stolen, and its session ends.
   */
  @Put()
  @ApiOperation({ operationId: 'refreshTokens' })
  @Header('Cache-Control', 'no-store')
  @AnswersWhole(TokensDto)
  @Raises(AuthenticationError.wrongCredentials(), AuthenticationError.repeatedRefresh())
  async replace(@Body() input: RefreshDto): Promise<TokensDto> {
    return toTokensDto(await this.tokens.refresh(input));
  }

  /**
   * Signs out: ends the session and all its tokens.
   * @remarks Access tokens of the session are refused from the next request on.
   */
  @Delete()
  @ApiOperation({ operationId: 'signOut' })
  @AnswersNothing()
  @Raises(AuthenticationError.wrongCredentials())
  remove(@Body() input: RefreshDto): Promise<void> {
    return this.tokens.signOut(input);
  }
}
