// Faults of a training step as edits of its plan: phases that are moved, removed, doubled or
// swapped, and functions that are replaced.
#pragma once

namespace dlcheck::reference {

struct Plan;
using Edit = void (*)(Plan& plan);

// What the losses of a window are divided by.
void DivideByMicroBatch(Plan& plan);  // each micro-batch counts as a step of its own
void DivideTwice(Plan& plan);         // by the number of micro-batches once more
void TakeMeanOfMeans(Plan& plan);     // each micro-batch counts alike, whatever it holds
void DivideByFullWindow(Plan& plan);  // by what a full window holds, also in a ragged one

// Phases of a step.
void LeaveOutClearing(Plan& plan);
void ClearInsideWindow(Plan& plan);  // before each backward, not before each window
void ClipInsideWindow(Plan& plan);   // after each backward, and not at the end
void ClipBeforeUnscale(Plan& plan);
void ClipAfterStep(Plan& plan);
void StepWithoutUnscale(Plan& plan);  // the step takes the scaled gradients
void StepUnderAutocast(Plan& plan);
void StepTwice(Plan& plan);
void ClearBeforeStep(Plan& plan);  // after the backward passes
void LeaveOutStep(Plan& plan);
void ScheduleFirstGroupAlone(Plan& plan);

// Phases of an evaluation.
void EvaluateInTrainingMode(Plan& plan);
void StayInEvaluationMode(Plan& plan);
void LearnStatisticsInEvaluation(Plan& plan);  // of normalization layers

// `plan` with the edits that its deviation of ranks asks for, made when training is built.
Plan WithEditsOfRanks(Plan plan);

}  // namespace dlcheck::reference
