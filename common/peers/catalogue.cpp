// SPDX-License-Identifier: MIT
#include "common/peers/catalogue.hpp"

#include <algorithm>

#include "common/peers/peers.hpp"
#include "common/peers/refusal.hpp"

namespace library {
Catalogue::Catalogue() {
    for (const runner::Stage& stage : runner::all_stages()) add(stage, "ours", "", "");
    for (const peers::Peer& peer : peers::all_peers())
        add(peer.stage,
            !peer.part.empty() ? "part"
            : peer.invalid     ? "invalid"
                               : "peer",
            peer.obstacle, peer.part);

    for (const Entry& entry : entries_) {
        const runner::Operation* operation = entry.variant.operation;
        callables_.push_back(
            {entry.name.c_str(), entry.group.c_str(), entry.variant.name.c_str(),
             keep(operation->name()), entry.role.c_str(), entry.variant.summary.c_str(),
             entry.obstacle.empty() ? nullptr : entry.obstacle.c_str(), entry.part.c_str(),
             entry.variant.further && entry.role == "ours" ? 1 : 0});
        if (std::find(operations_.begin(), operations_.end(), operation) != operations_.end())
            continue;
        operations_.push_back(operation);
        in_c_.push_back(describe(*operation));
    }
}

void Catalogue::add(const runner::Stage& stage, const std::string& role,
                    const std::string& obstacle, const std::string& part) {
    for (const runner::Variant& variant : stage.variants) {
        entries_.push_back(
            {variant, stage.name, role, obstacle, part, stage.name + "/" + variant.name});
    }
}

const char* Catalogue::keep(const std::string& text) {
    return texts_.emplace_back(text).c_str();
}

stages_operation Catalogue::describe(const runner::Operation& operation) {
    std::vector<stages_form>& forms = forms_.emplace_back();
    for (const std::vector<std::string>& form : operation.forms()) {
        std::vector<const char*>& names = names_.emplace_back();
        for (const std::string& name : form) names.push_back(keep(name));
        forms.push_back({names.data(), names.size()});
    }
    std::vector<stages_option>& optional = optional_.emplace_back();
    for (const runner::Optional& each : operation.optional())
        optional.push_back({keep(each.name), each.usual});
    std::vector<stages_input>& inputs = inputs_.emplace_back();
    for (const runner::NamedInput& each : operation.inputs())
        inputs.push_back({keep(each.name), keep(each.summary)});
    return {keep(operation.name()),
            keep(operation.family()),
            keep(operation.shown_as()),
            keep(operation.along()),
            runner::name_of(operation.unit()),
            runner::name_of(operation.roof()),
            keep(operation.shape_help()),
            forms.data(),
            forms.size(),
            optional.data(),
            optional.size(),
            inputs.data(),
            inputs.size(),
            keep(operation.usual_input())};
}

const Entry* Catalogue::find_callable(std::string_view name) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.name == name; });
    return found == entries_.end() ? nullptr : &*found;
}

const runner::Operation* Catalogue::find_operation(std::string_view name) const {
    const auto found =
        std::find_if(operations_.begin(), operations_.end(),
                     [&](const auto* operation) { return operation->name() == name; });
    return found == operations_.end() ? nullptr : *found;
}

const Catalogue& catalogue() {
    static const Catalogue all;
    return all;
}

const Entry& callable_named(const char* name) {
    require(name != nullptr, "the name is null");
    const Entry* entry = catalogue().find_callable(name);
    if (entry == nullptr) refuse(std::string("nothing is called '") + name + "'");
    if (!entry->obstacle.empty())
        throw Refusal(cudaErrorNotSupported, entry->name + " " + entry->obstacle);
    return *entry;
}

Subject subject_named(const char* what) {
    require(what != nullptr, "the name of a callable or an operation is null");
    if (const Entry* entry = catalogue().find_callable(what))
        return {entry->variant.operation, entry};
    const runner::Operation* operation = catalogue().find_operation(what);
    if (operation == nullptr)
        refuse(std::string("'") + what + "' is neither a callable nor an operation");
    return {operation, nullptr};
}

void require_taken(const Entry& entry, const runner::Shape& shape, runner::DType dtype) {
    const std::string obstacle = obstacle_of(entry.variant, shape, dtype);
    if (!obstacle.empty()) throw Refusal(cudaErrorNotSupported, entry.name + ": " + obstacle);
}

}  // namespace library
