// Weir: rate limiting, exact and at memory speed.
#pragma once

#include "weir/awaitable.h"
#include "weir/decision.h"
#include "weir/keyed_limiter.h"
#include "weir/limit.h"
#include "weir/limiter.h"
#include "weir/reservation.h"
#include "weir/result.h"
#include "weir/take_all.h"
#include "weir/units.h"
