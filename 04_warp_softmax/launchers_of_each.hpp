// SPDX-License-Identifier: MIT
// Ends a list of launchers: expands LAUNCHERS(type, algorithm) for all types and both algorithms, then undefines it.
LAUNCHERS(float, Algorithm::softmax);
LAUNCHERS(float, Algorithm::log_softmax);
LAUNCHERS(double, Algorithm::softmax);
LAUNCHERS(double, Algorithm::log_softmax);
LAUNCHERS(__half, Algorithm::softmax);
LAUNCHERS(__half, Algorithm::log_softmax);
LAUNCHERS(__nv_bfloat16, Algorithm::softmax);
LAUNCHERS(__nv_bfloat16, Algorithm::log_softmax);

#undef LAUNCHERS
#undef INSTANCE
