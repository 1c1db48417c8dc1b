// The rules of optimizers in float64.
#pragma once

#include <torch/torch.h>

#include "dlcheck/probe.h"

namespace dlcheck {

// Of one parameter, from before a step: float64 copies in its shape. State that the optimizer does
// not keep is undefined.
struct BeforeStep {
  double rate = 0, weight_decay = 0;
  double steps = 0;  // that were made
  at::Tensor weight, gradient;
  at::Tensor momentum, first, second;
  at::Tensor product;  // of NAdam's momenta, one number
};

// What a step of the rule adds to the weight; undefined where its state is not there, or the rule
// is not known.
//
// Sources: torch.optim's documentation; Kingma and Ba 2015 (Adam); Loshchilov and Hutter 2019
//          (AdamW); Duchi et al. 2011 (Adagrad); Dozat 2016 (NAdam); Graves 2013 (RMSprop).
at::Tensor ChangeOf(const Probe::Rule& rule, const BeforeStep& before);

}  // namespace dlcheck
