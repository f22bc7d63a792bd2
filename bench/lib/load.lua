-- Sends the requests of a file, which are separated by NUL, one after the other, and prints what came of it as JSON.
local requests, place = {}, 0

function init()
  local file = assert(io.open(os.getenv('REQUESTS'), 'rb'))
  for request in file:read('*a'):gmatch('(%Z+)%z') do requests[#requests + 1] = request end
  file:close()
end

function request()
  place = place % #requests + 1
  return requests[place]
end

-- Times are microseconds.
function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.timeout
  local line = '\n{"requests":%d,"duration":%d,"refused":%d,"failures":%d,"p50":%d,"p99":%d}\n'
  io.write(line:format(summary.requests, summary.duration, errors.status, failures,
    latency:percentile(50), latency:percentile(99)))
end
