"""nemo-toolkit 3.0.0: transducer log probabilities (forward and backward) and n-gram language models advanced for all tokens with back-off, one model and many."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
for p in ("nemo", "nemo.collections", "nemo.collections.asr", "nemo.collections.asr.parts", "nemo.collections.asr.parts.k2", "nemo.collections.asr.parts.submodules",
          "nemo.collections.asr.parts.submodules.ngram_lm"):
    package(p)
from nemo.collections.asr.parts.k2.rnnt_logprobs_triton import rnnt_logprobs_triton
from nemo.collections.asr.parts.submodules.ngram_lm import ngram_lm_triton as ng
import triton


@case((8, 200, 60, 1025, bf16), (16, 250, 40, 129, f32), (4, 150, 40, 8193, bf16))
def rnnt(b, t, u, v, dtype):
    x = randn(b, t, u + 1, v, dtype=dtype, grad=True)
    bwd(rnnt_logprobs_triton(x, randint(0, v - 1, b, u), v - 1, torch.full((b,), t - 8, device=DEV, dtype=i64), torch.full((b,), u - 3, device=DEV, dtype=i64)))


def model(states, vocab, fan):
    """Arcs sorted by label within a state; state 1 is the start with an arc for every token; the others back off to it or to each other."""
    n = torch.randint(1, fan, (states,))
    n[0], n[1] = vocab, vocab
    end = n.cumsum(0)
    start_end = torch.stack([end - n, end], 1).to(DEV)
    arcs = int(end[-1])
    lab = torch.cat([torch.arange(vocab), torch.arange(vocab)] + [torch.randperm(vocab)[:int(k)].sort()[0] for k in n[2:]]).to(DEV)
    back = torch.randint(0, 2, (states,))
    back[:] = 1
    far = torch.arange(states) > states // 2
    back[far] = torch.randint(2, states // 2, (int(far.sum()),))
    return dict(to_states_ptr=randint(1, states, arcs), ilabels_ptr=lab, arcs_weights_ptr=randn(arcs, dtype=f32), start_end_arcs_ptr=start_end.contiguous(),
                backoff_to_states_ptr=back.to(DEV), backoff_weights_ptr=rand(states, lo=-1.0))


@case((128, 1024, 20000, 64), (512, 4096, 30000, 200))
def ngram(b, v, states, fan):
    m = model(states, v, fan)
    s = randint(2, states, b)
    ng.ngram_advance_triton_kernel[(b,)](vocab_size=v, states_ptr=s, new_states_ptr=zeros(b, v, dtype=i64), scores_ptr=zeros(b, v, dtype=f32), start_state=1, **m,
                                         BLOCK_SIZE=triton.next_power_of_2(v))
    ng.ngram_multi_advance_triton_kernel[(b,)](vocab_size=v, states_ptr=s, new_states_out_ptr=zeros(b, v, dtype=i64), scores_out_ptr=zeros(b, v, dtype=f32), start_state=1,
                                               model_ids_ptr=zeros(b, dtype=i64), states_offsets_ptr=zeros(2, dtype=i64), arcs_offsets_ptr=zeros(2, dtype=i64), **m,
                                               BLOCK_SIZE=triton.next_power_of_2(v))
