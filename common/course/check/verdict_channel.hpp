// SPDX-License-Identifier: MIT
//
// How a program with a learner's launcher hands its verdict to whoever started it (`--verdict -`). The launcher runs in the
// same process, so it must not find a place to put a verdict of its own: no file has a name. The starter writes a word that
// nobody can guess to standard input and reads one line from standard output, a document with that word as its `nonce`.
// The word is read and both ends are taken away before any code of the learner's runs; what the launcher prints goes to
// standard error.
#pragma once
#include <nlohmann/json.hpp>

namespace course {

// Sends the document and closes the channel. False where there is no channel, or it does not take the document.
bool send_verdict(nlohmann::json document);

}  // namespace course
