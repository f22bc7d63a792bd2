-- Sends the requests of a file, which are separated by NUL, one after the other, and prints what came of it as JSON.
-- The markers in them are explained in markers.mjs.
local requests, place, turn, number, asked = {}, 0, 0, tonumber(os.getenv('FIRST_NUMBER')), false

local function unique(digits)
  local form, limit = ('%%0%dd'):format(digits), 10 ^ digits
  return function()
    number = number + 1
    return form:format(number % limit)
  end
end

local function version(first, step)
  return function() return ('%d'):format(first + turn * step) end
end

-- A text, or for one with markers a list of texts and of functions that return one.
local function parse(text)
  local parts, from = {}, 1
  for start, kind, first, step, after in text:gmatch('()<<(%a+) ?(%d*) ?(%d*)>>()') do
    parts[#parts + 1] = text:sub(from, start - 1)
    parts[#parts + 1] = kind == 'version' and version(tonumber(first), tonumber(step)) or unique(tonumber(first))
    from = after
  end
  if from == 1 then return text end
  parts[#parts + 1] = text:sub(from)
  return parts
end

local function fill(request)
  if type(request) == 'string' then return request end
  local texts = {}
  for index, part in ipairs(request) do texts[index] = type(part) == 'string' and part or part() end
  return table.concat(texts)
end

function init()
  local file = assert(io.open(os.getenv('REQUESTS'), 'rb'))
  for request in file:read('*a'):gmatch('(%Z+)%z') do requests[#requests + 1] = parse(request) end
  file:close()
end

function request()
  -- wrk asks once only to see what a request looks like, and doesn't send it.
  if not asked then
    asked = true
    return fill(requests[1])
  end
  if place == #requests then place, turn = 0, turn + 1 end
  place = place + 1
  return fill(requests[place])
end

-- Times are microseconds.
function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.timeout
  local line = '\n{"requests":%d,"duration":%d,"refused":%d,"failures":%d,"p50":%d,"p99":%d,"p999":%d}\n'
  io.write(line:format(summary.requests, summary.duration, errors.status, failures,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
