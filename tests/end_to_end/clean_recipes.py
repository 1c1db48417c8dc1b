"""Healthy recipes of the reference trainer, which between them use every mechanism that a planted
fault breaks: under all experiments no check may find anything. ci/matrix runs all of them, the tests
a twelfth."""


WINDOWS = "--gradient-accumulation-steps 4 --batch-size 16 --drop-last false"
GPT = ("--model gpt --width 32 --depth 2 --heads 2 --context 32 --batch-size 8 --optimizer adamw "
       "--evaluate-samples 32 --steps 100")
FP16 = "--autocast fp16 --initial-scale 1048576 --growth-interval 7"

# Name: flags. FOLDER stands for an empty folder.
RECIPES = {
    "windows": WINDOWS,
    "windows, a class ignored": f"{WINDOWS} --ignore-index 3",
    "windows, label smoothing": f"{WINDOWS} --label-smoothing 0.1",
    "windows, balanced classes": f"{WINDOWS} --class-weights balanced",
    "windows of single samples": "--batch-size 1 --gradient-accumulation-steps 16 --steps 200",
    "clipped by norm": "--gradient-clip-algorithm norm --gradient-clip-val 0.3",
    "clipped by norm, windows": f"{WINDOWS} --gradient-clip-algorithm norm --gradient-clip-val 0.3",
    "clipped by largest": "--gradient-clip-algorithm norm --gradient-clip-norm-type inf --gradient-clip-val 0.01",
    "clipped by value": "--gradient-clip-algorithm value --gradient-clip-val 0.01",
    "clipped adaptively": "--gradient-clip-algorithm adaptive --gradient-clip-val 0.02",
    "fp16, clipped": f"{FP16} --gradient-clip-algorithm norm --gradient-clip-val 0.3",
    "fp16, windows": f"{WINDOWS} {FP16}",
    "fp16, cosine, steps left out": f"{FP16} --initial-scale 1e9 --schedule cosine --warmup-steps 20",
    "bf16": "--autocast bf16",
    "bf16, resnet": "--autocast bf16 --model resnet",
    "bf16 weights with masters": "--weights bf16 --optimizer adamw --weight-decay 0.1",
    "bf16 weights, SGD": "--weights bf16 --master-weights false",
    "cosine": "--schedule cosine --warmup-steps 20",
    "cosine, past its horizon": "--schedule cosine --horizon 300",
    "step": "--schedule step",
    "linear": "--schedule linear --warmup-steps 10 --warmup from_zero",
    "one cycle": "--schedule one_cycle",
    "cooldown": "--schedule cooldown --warmup-steps 10 --warmup from_factor",
    "Adam, decay": "--optimizer adam --weight-decay 0.01",
    "AdamW, decay of all": "--optimizer adamw --weight-decay 0.1 --decay all",
    "Nesterov, cosine": "--nesterov --schedule cosine",
    "SGD, decay, no momentum": "--weight-decay 0.001 --momentum 0",
    "average": "--ema-decay 0.9",
    "average, resnet, buffers too": "--model resnet --ema-decay 0.99 --ema-buffers",
    "average, dropout": "--ema-decay 0.9 --dropout 0.2 --evaluate-every 30",
    "mse": "--loss mse",
    "bce": "--loss bce",
    "huber from the targets' mean": "--loss huber --head-bias prior",
    "from the label prior": "--head-bias prior",
    "a head of zeros": "--initialization zeros-head",
    "dropout": "--dropout 0.3 --evaluate-every 30",
    "patience": "--patience 2 --evaluate-every 20",
    "non-finite steps left out": "--nonfinite skip",
    "resumable, everything": f"{WINDOWS} {FP16} --optimizer adamw --schedule cosine --dropout 0.2 "
                             "--ema-decay 0.9 --gradient-clip-algorithm norm --checkpoints FOLDER --checkpoint-every 50 "
                             "--keep-best 1 --evaluate-every 50",
    "gpt": GPT,
    "gpt, RMSNorm, SwiGLU, learned positions, untied":
        f"{GPT} --norm rmsnorm --activation swiglu --position-embedding learned --tie-embeddings false",
    "gpt, bf16, recomputed, windows":
        f"{GPT} --activation-checkpointing --autocast bf16 --gradient-accumulation-steps 2 --dropout 0.1",
    "gpt, mean over samples": f"{GPT} --reduction sample",
}
