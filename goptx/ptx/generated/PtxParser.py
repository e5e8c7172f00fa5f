# encoding: utf-8
from antlr4 import *
from io import StringIO
import sys
if sys.version_info[1] > 5:
	from typing import TextIO
else:
	from typing.io import TextIO


from goptx.ptx.rule import Rule

def serializedATN():
    return [
        4,1,63,628,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,2,23,7,23,2,24,7,24,2,25,7,25,2,26,7,26,
        1,0,5,0,56,8,0,10,0,12,0,59,9,0,1,0,1,0,1,1,1,1,1,1,1,1,1,1,1,1,
        5,1,69,8,1,10,1,12,1,72,9,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,
        3,1,83,8,1,1,1,1,1,1,1,1,1,5,1,89,8,1,10,1,12,1,92,9,1,1,1,1,1,1,
        1,1,1,1,1,1,1,1,1,5,1,101,8,1,10,1,12,1,104,9,1,1,1,1,1,1,1,1,1,
        1,1,1,1,1,1,1,1,5,1,114,8,1,10,1,12,1,117,9,1,1,1,3,1,120,8,1,1,
        2,1,2,1,3,1,3,1,3,3,3,127,8,3,1,4,1,4,1,4,1,4,1,4,1,4,5,4,135,8,
        4,10,4,12,4,138,9,4,3,4,140,8,4,1,4,3,4,143,8,4,1,4,5,4,146,8,4,
        10,4,12,4,149,9,4,1,4,1,4,3,4,153,8,4,1,5,1,5,5,5,157,8,5,10,5,12,
        5,160,9,5,1,5,1,5,1,5,1,5,5,5,166,8,5,10,5,12,5,169,9,5,1,5,1,5,
        3,5,173,8,5,1,5,1,5,1,5,1,5,1,5,5,5,180,8,5,10,5,12,5,183,9,5,3,
        5,185,8,5,1,5,3,5,188,8,5,1,5,5,5,191,8,5,10,5,12,5,194,9,5,1,5,
        1,5,3,5,198,8,5,1,6,1,6,3,6,202,8,6,1,7,1,7,1,7,1,7,1,7,5,7,209,
        8,7,10,7,12,7,212,9,7,1,7,3,7,215,8,7,1,8,1,8,1,8,1,8,5,8,221,8,
        8,10,8,12,8,224,9,8,3,8,226,8,8,1,9,1,9,3,9,230,8,9,1,9,1,9,5,9,
        234,8,9,10,9,12,9,237,9,9,1,9,1,9,1,9,5,9,242,8,9,10,9,12,9,245,
        9,9,1,9,1,9,1,10,3,10,250,8,10,1,10,1,10,5,10,254,8,10,10,10,12,
        10,257,9,10,1,10,3,10,260,8,10,1,11,1,11,1,11,1,11,3,11,266,8,11,
        1,11,5,11,269,8,11,10,11,12,11,272,9,11,1,11,1,11,3,11,276,8,11,
        1,12,1,12,1,12,3,12,281,8,12,1,13,1,13,1,13,1,14,1,14,1,14,1,14,
        1,14,5,14,291,8,14,10,14,12,14,294,9,14,1,14,1,14,1,15,1,15,1,15,
        1,15,1,15,5,15,303,8,15,10,15,12,15,306,9,15,1,15,3,15,309,8,15,
        1,16,1,16,3,16,313,8,16,1,16,1,16,1,17,1,17,1,17,1,17,5,17,321,8,
        17,10,17,12,17,324,9,17,3,17,326,8,17,1,17,1,17,1,17,1,17,3,17,332,
        8,17,3,17,334,8,17,1,18,1,18,5,18,338,8,18,10,18,12,18,341,9,18,
        1,18,1,18,1,19,1,19,1,19,5,19,348,8,19,10,19,12,19,351,9,19,1,19,
        1,19,1,19,5,19,356,8,19,10,19,12,19,359,9,19,3,19,361,8,19,1,19,
        3,19,364,8,19,1,19,1,19,3,19,368,8,19,1,19,1,19,1,19,5,19,373,8,
        19,10,19,12,19,376,9,19,1,19,1,19,1,19,5,19,381,8,19,10,19,12,19,
        384,9,19,3,19,386,8,19,1,19,1,19,1,19,5,19,391,8,19,10,19,12,19,
        394,9,19,1,19,1,19,1,19,1,19,1,19,1,19,1,19,1,19,5,19,404,8,19,10,
        19,12,19,407,9,19,1,19,1,19,1,19,1,19,1,19,1,19,1,19,1,19,5,19,417,
        8,19,10,19,12,19,420,9,19,1,19,1,19,1,19,1,19,1,19,5,19,427,8,19,
        10,19,12,19,430,9,19,1,19,1,19,1,19,1,19,1,19,1,19,5,19,438,8,19,
        10,19,12,19,441,9,19,1,19,1,19,1,19,1,19,1,19,1,19,1,19,5,19,450,
        8,19,10,19,12,19,453,9,19,3,19,455,8,19,1,19,3,19,458,8,19,1,19,
        1,19,1,19,1,19,1,19,5,19,465,8,19,10,19,12,19,468,9,19,3,19,470,
        8,19,1,19,3,19,473,8,19,1,19,5,19,476,8,19,10,19,12,19,479,9,19,
        1,19,3,19,482,8,19,1,20,1,20,4,20,486,8,20,11,20,12,20,487,1,20,
        1,20,1,20,5,20,493,8,20,10,20,12,20,496,9,20,1,20,1,20,1,21,1,21,
        1,21,1,21,3,21,504,8,21,1,22,1,22,1,22,1,22,3,22,510,8,22,1,22,1,
        22,1,22,3,22,515,8,22,1,23,1,23,1,23,1,23,5,23,521,8,23,10,23,12,
        23,524,9,23,3,23,526,8,23,1,23,1,23,1,23,3,23,531,8,23,1,23,1,23,
        1,23,1,23,5,23,537,8,23,10,23,12,23,540,9,23,1,23,1,23,1,23,1,23,
        1,23,1,23,1,23,1,23,1,23,5,23,551,8,23,10,23,12,23,554,9,23,3,23,
        556,8,23,1,23,1,23,5,23,560,8,23,10,23,12,23,563,9,23,3,23,565,8,
        23,1,23,1,23,1,23,1,23,1,23,1,23,5,23,573,8,23,10,23,12,23,576,9,
        23,3,23,578,8,23,1,23,1,23,1,23,1,23,5,23,584,8,23,10,23,12,23,587,
        9,23,3,23,589,8,23,1,24,1,24,5,24,593,8,24,10,24,12,24,596,9,24,
        1,25,1,25,1,25,1,26,5,26,602,8,26,10,26,12,26,605,9,26,1,26,1,26,
        3,26,609,8,26,1,26,1,26,1,26,1,26,3,26,615,8,26,1,26,1,26,1,26,1,
        26,1,26,1,26,1,26,3,26,624,8,26,3,26,626,8,26,1,26,0,0,27,0,2,4,
        6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,
        50,52,0,12,2,0,52,52,54,55,1,0,52,53,4,0,3,3,5,5,12,14,52,56,1,0,
        55,56,2,0,19,19,51,51,2,0,51,51,53,53,2,0,52,52,55,55,3,0,11,11,
        50,51,53,53,3,0,13,14,28,28,35,35,1,0,54,55,4,0,12,14,20,21,34,34,
        36,49,1,0,54,56,715,0,57,1,0,0,0,2,119,1,0,0,0,4,121,1,0,0,0,6,126,
        1,0,0,0,8,128,1,0,0,0,10,154,1,0,0,0,12,201,1,0,0,0,14,214,1,0,0,
        0,16,216,1,0,0,0,18,229,1,0,0,0,20,249,1,0,0,0,22,261,1,0,0,0,24,
        280,1,0,0,0,26,282,1,0,0,0,28,285,1,0,0,0,30,297,1,0,0,0,32,310,
        1,0,0,0,34,333,1,0,0,0,36,335,1,0,0,0,38,481,1,0,0,0,40,483,1,0,
        0,0,42,499,1,0,0,0,44,505,1,0,0,0,46,588,1,0,0,0,48,590,1,0,0,0,
        50,597,1,0,0,0,52,603,1,0,0,0,54,56,3,2,1,0,55,54,1,0,0,0,56,59,
        1,0,0,0,57,55,1,0,0,0,57,58,1,0,0,0,58,60,1,0,0,0,59,57,1,0,0,0,
        60,61,5,0,0,1,61,1,1,0,0,0,62,63,5,1,0,0,63,120,7,0,0,0,64,65,5,
        2,0,0,65,70,5,52,0,0,66,67,5,3,0,0,67,69,5,52,0,0,68,66,1,0,0,0,
        69,72,1,0,0,0,70,68,1,0,0,0,70,71,1,0,0,0,71,120,1,0,0,0,72,70,1,
        0,0,0,73,74,5,4,0,0,74,120,5,55,0,0,75,76,5,5,0,0,76,77,5,55,0,0,
        77,82,5,56,0,0,78,79,5,3,0,0,79,80,5,55,0,0,80,81,5,3,0,0,81,83,
        5,55,0,0,82,78,1,0,0,0,82,83,1,0,0,0,83,120,1,0,0,0,84,85,5,6,0,
        0,85,86,7,1,0,0,86,90,5,7,0,0,87,89,3,4,2,0,88,87,1,0,0,0,89,92,
        1,0,0,0,90,88,1,0,0,0,90,91,1,0,0,0,91,93,1,0,0,0,92,90,1,0,0,0,
        93,120,5,8,0,0,94,120,5,57,0,0,95,120,5,58,0,0,96,97,5,9,0,0,97,
        102,5,56,0,0,98,99,5,3,0,0,99,101,5,56,0,0,100,98,1,0,0,0,101,104,
        1,0,0,0,102,100,1,0,0,0,102,103,1,0,0,0,103,105,1,0,0,0,104,102,
        1,0,0,0,105,120,5,10,0,0,106,107,5,11,0,0,107,108,5,52,0,0,108,109,
        5,3,0,0,109,110,5,52,0,0,110,120,5,10,0,0,111,120,3,40,20,0,112,
        114,5,50,0,0,113,112,1,0,0,0,114,117,1,0,0,0,115,113,1,0,0,0,115,
        116,1,0,0,0,116,118,1,0,0,0,117,115,1,0,0,0,118,120,3,6,3,0,119,
        62,1,0,0,0,119,64,1,0,0,0,119,73,1,0,0,0,119,75,1,0,0,0,119,84,1,
        0,0,0,119,94,1,0,0,0,119,95,1,0,0,0,119,96,1,0,0,0,119,106,1,0,0,
        0,119,111,1,0,0,0,119,115,1,0,0,0,120,3,1,0,0,0,121,122,7,2,0,0,
        122,5,1,0,0,0,123,127,3,18,9,0,124,127,3,8,4,0,125,127,3,10,5,0,
        126,123,1,0,0,0,126,124,1,0,0,0,126,125,1,0,0,0,127,7,1,0,0,0,128,
        129,5,15,0,0,129,142,5,52,0,0,130,139,5,16,0,0,131,136,3,20,10,0,
        132,133,5,3,0,0,133,135,3,20,10,0,134,132,1,0,0,0,135,138,1,0,0,
        0,136,134,1,0,0,0,136,137,1,0,0,0,137,140,1,0,0,0,138,136,1,0,0,
        0,139,131,1,0,0,0,139,140,1,0,0,0,140,141,1,0,0,0,141,143,5,17,0,
        0,142,130,1,0,0,0,142,143,1,0,0,0,143,147,1,0,0,0,144,146,3,14,7,
        0,145,144,1,0,0,0,146,149,1,0,0,0,147,145,1,0,0,0,147,148,1,0,0,
        0,148,152,1,0,0,0,149,147,1,0,0,0,150,153,3,36,18,0,151,153,5,10,
        0,0,152,150,1,0,0,0,152,151,1,0,0,0,153,9,1,0,0,0,154,158,5,18,0,
        0,155,157,3,12,6,0,156,155,1,0,0,0,157,160,1,0,0,0,158,156,1,0,0,
        0,158,159,1,0,0,0,159,172,1,0,0,0,160,158,1,0,0,0,161,162,5,16,0,
        0,162,167,3,20,10,0,163,164,5,3,0,0,164,166,3,20,10,0,165,163,1,
        0,0,0,166,169,1,0,0,0,167,165,1,0,0,0,167,168,1,0,0,0,168,170,1,
        0,0,0,169,167,1,0,0,0,170,171,5,17,0,0,171,173,1,0,0,0,172,161,1,
        0,0,0,172,173,1,0,0,0,173,174,1,0,0,0,174,187,5,52,0,0,175,184,5,
        16,0,0,176,181,3,20,10,0,177,178,5,3,0,0,178,180,3,20,10,0,179,177,
        1,0,0,0,180,183,1,0,0,0,181,179,1,0,0,0,181,182,1,0,0,0,182,185,
        1,0,0,0,183,181,1,0,0,0,184,176,1,0,0,0,184,185,1,0,0,0,185,186,
        1,0,0,0,186,188,5,17,0,0,187,175,1,0,0,0,187,188,1,0,0,0,188,192,
        1,0,0,0,189,191,3,16,8,0,190,189,1,0,0,0,191,194,1,0,0,0,192,190,
        1,0,0,0,192,193,1,0,0,0,193,197,1,0,0,0,194,192,1,0,0,0,195,198,
        3,36,18,0,196,198,5,10,0,0,197,195,1,0,0,0,197,196,1,0,0,0,197,198,
        1,0,0,0,198,11,1,0,0,0,199,202,5,53,0,0,200,202,3,28,14,0,201,199,
        1,0,0,0,201,200,1,0,0,0,202,13,1,0,0,0,203,215,3,16,8,0,204,205,
        5,9,0,0,205,210,5,56,0,0,206,207,5,3,0,0,207,209,5,56,0,0,208,206,
        1,0,0,0,209,212,1,0,0,0,210,208,1,0,0,0,210,211,1,0,0,0,211,213,
        1,0,0,0,212,210,1,0,0,0,213,215,5,10,0,0,214,203,1,0,0,0,214,204,
        1,0,0,0,215,15,1,0,0,0,216,225,5,53,0,0,217,222,7,3,0,0,218,219,
        5,3,0,0,219,221,7,3,0,0,220,218,1,0,0,0,221,224,1,0,0,0,222,220,
        1,0,0,0,222,223,1,0,0,0,223,226,1,0,0,0,224,222,1,0,0,0,225,217,
        1,0,0,0,225,226,1,0,0,0,226,17,1,0,0,0,227,230,3,28,14,0,228,230,
        3,26,13,0,229,227,1,0,0,0,229,228,1,0,0,0,229,230,1,0,0,0,230,231,
        1,0,0,0,231,235,5,51,0,0,232,234,3,24,12,0,233,232,1,0,0,0,234,237,
        1,0,0,0,235,233,1,0,0,0,235,236,1,0,0,0,236,238,1,0,0,0,237,235,
        1,0,0,0,238,243,3,22,11,0,239,240,5,3,0,0,240,242,3,22,11,0,241,
        239,1,0,0,0,242,245,1,0,0,0,243,241,1,0,0,0,243,244,1,0,0,0,244,
        246,1,0,0,0,245,243,1,0,0,0,246,247,5,10,0,0,247,19,1,0,0,0,248,
        250,3,26,13,0,249,248,1,0,0,0,249,250,1,0,0,0,250,251,1,0,0,0,251,
        255,7,4,0,0,252,254,3,24,12,0,253,252,1,0,0,0,254,257,1,0,0,0,255,
        253,1,0,0,0,255,256,1,0,0,0,256,259,1,0,0,0,257,255,1,0,0,0,258,
        260,3,22,11,0,259,258,1,0,0,0,259,260,1,0,0,0,260,21,1,0,0,0,261,
        265,5,52,0,0,262,263,5,20,0,0,263,264,5,55,0,0,264,266,5,21,0,0,
        265,262,1,0,0,0,265,266,1,0,0,0,266,270,1,0,0,0,267,269,3,32,16,
        0,268,267,1,0,0,0,269,272,1,0,0,0,270,268,1,0,0,0,270,271,1,0,0,
        0,271,275,1,0,0,0,272,270,1,0,0,0,273,274,5,22,0,0,274,276,3,34,
        17,0,275,273,1,0,0,0,275,276,1,0,0,0,276,23,1,0,0,0,277,281,7,5,
        0,0,278,281,3,26,13,0,279,281,3,28,14,0,280,277,1,0,0,0,280,278,
        1,0,0,0,280,279,1,0,0,0,281,25,1,0,0,0,282,283,5,23,0,0,283,284,
        5,55,0,0,284,27,1,0,0,0,285,286,5,24,0,0,286,287,5,16,0,0,287,292,
        3,30,15,0,288,289,5,3,0,0,289,291,3,30,15,0,290,288,1,0,0,0,291,
        294,1,0,0,0,292,290,1,0,0,0,292,293,1,0,0,0,293,295,1,0,0,0,294,
        292,1,0,0,0,295,296,5,17,0,0,296,29,1,0,0,0,297,308,5,53,0,0,298,
        299,5,16,0,0,299,304,5,55,0,0,300,301,5,3,0,0,301,303,5,55,0,0,302,
        300,1,0,0,0,303,306,1,0,0,0,304,302,1,0,0,0,304,305,1,0,0,0,305,
        307,1,0,0,0,306,304,1,0,0,0,307,309,5,17,0,0,308,298,1,0,0,0,308,
        309,1,0,0,0,309,31,1,0,0,0,310,312,5,25,0,0,311,313,7,6,0,0,312,
        311,1,0,0,0,312,313,1,0,0,0,313,314,1,0,0,0,314,315,5,26,0,0,315,
        33,1,0,0,0,316,325,5,7,0,0,317,322,3,34,17,0,318,319,5,3,0,0,319,
        321,3,34,17,0,320,318,1,0,0,0,321,324,1,0,0,0,322,320,1,0,0,0,322,
        323,1,0,0,0,323,326,1,0,0,0,324,322,1,0,0,0,325,317,1,0,0,0,325,
        326,1,0,0,0,326,327,1,0,0,0,327,334,5,8,0,0,328,331,3,48,24,0,329,
        330,5,22,0,0,330,332,3,48,24,0,331,329,1,0,0,0,331,332,1,0,0,0,332,
        334,1,0,0,0,333,316,1,0,0,0,333,328,1,0,0,0,334,35,1,0,0,0,335,339,
        5,7,0,0,336,338,3,38,19,0,337,336,1,0,0,0,338,341,1,0,0,0,339,337,
        1,0,0,0,339,340,1,0,0,0,340,342,1,0,0,0,341,339,1,0,0,0,342,343,
        5,8,0,0,343,37,1,0,0,0,344,363,5,52,0,0,345,364,5,12,0,0,346,348,
        7,7,0,0,347,346,1,0,0,0,348,351,1,0,0,0,349,347,1,0,0,0,349,350,
        1,0,0,0,350,360,1,0,0,0,351,349,1,0,0,0,352,357,3,46,23,0,353,354,
        5,3,0,0,354,356,3,46,23,0,355,353,1,0,0,0,356,359,1,0,0,0,357,355,
        1,0,0,0,357,358,1,0,0,0,358,361,1,0,0,0,359,357,1,0,0,0,360,352,
        1,0,0,0,360,361,1,0,0,0,361,362,1,0,0,0,362,364,5,10,0,0,363,345,
        1,0,0,0,363,349,1,0,0,0,364,482,1,0,0,0,365,367,5,27,0,0,366,368,
        5,28,0,0,367,366,1,0,0,0,367,368,1,0,0,0,368,369,1,0,0,0,369,370,
        5,52,0,0,370,374,5,52,0,0,371,373,7,7,0,0,372,371,1,0,0,0,373,376,
        1,0,0,0,374,372,1,0,0,0,374,375,1,0,0,0,375,385,1,0,0,0,376,374,
        1,0,0,0,377,382,3,46,23,0,378,379,5,3,0,0,379,381,3,46,23,0,380,
        378,1,0,0,0,381,384,1,0,0,0,382,380,1,0,0,0,382,383,1,0,0,0,383,
        386,1,0,0,0,384,382,1,0,0,0,385,377,1,0,0,0,385,386,1,0,0,0,386,
        387,1,0,0,0,387,482,5,10,0,0,388,482,3,40,20,0,389,391,5,50,0,0,
        390,389,1,0,0,0,391,394,1,0,0,0,392,390,1,0,0,0,392,393,1,0,0,0,
        393,395,1,0,0,0,394,392,1,0,0,0,395,482,3,18,9,0,396,482,3,36,18,
        0,397,398,5,29,0,0,398,399,5,55,0,0,399,400,5,55,0,0,400,405,5,55,
        0,0,401,402,5,3,0,0,402,404,3,44,22,0,403,401,1,0,0,0,404,407,1,
        0,0,0,405,403,1,0,0,0,405,406,1,0,0,0,406,482,1,0,0,0,407,405,1,
        0,0,0,408,409,5,30,0,0,409,410,5,55,0,0,410,411,5,55,0,0,411,482,
        5,55,0,0,412,413,5,9,0,0,413,418,5,56,0,0,414,415,5,3,0,0,415,417,
        5,56,0,0,416,414,1,0,0,0,417,420,1,0,0,0,418,416,1,0,0,0,418,419,
        1,0,0,0,419,421,1,0,0,0,420,418,1,0,0,0,421,482,5,10,0,0,422,423,
        5,31,0,0,423,428,3,42,21,0,424,425,5,3,0,0,425,427,3,42,21,0,426,
        424,1,0,0,0,427,430,1,0,0,0,428,426,1,0,0,0,428,429,1,0,0,0,429,
        431,1,0,0,0,430,428,1,0,0,0,431,432,5,10,0,0,432,482,1,0,0,0,433,
        434,5,32,0,0,434,439,3,42,21,0,435,436,5,3,0,0,436,438,3,42,21,0,
        437,435,1,0,0,0,438,441,1,0,0,0,439,437,1,0,0,0,439,440,1,0,0,0,
        440,442,1,0,0,0,441,439,1,0,0,0,442,443,5,10,0,0,443,482,1,0,0,0,
        444,457,5,33,0,0,445,454,5,16,0,0,446,451,3,20,10,0,447,448,5,3,
        0,0,448,450,3,20,10,0,449,447,1,0,0,0,450,453,1,0,0,0,451,449,1,
        0,0,0,451,452,1,0,0,0,452,455,1,0,0,0,453,451,1,0,0,0,454,446,1,
        0,0,0,454,455,1,0,0,0,455,456,1,0,0,0,456,458,5,17,0,0,457,445,1,
        0,0,0,457,458,1,0,0,0,458,459,1,0,0,0,459,472,5,52,0,0,460,469,5,
        16,0,0,461,466,3,20,10,0,462,463,5,3,0,0,463,465,3,20,10,0,464,462,
        1,0,0,0,465,468,1,0,0,0,466,464,1,0,0,0,466,467,1,0,0,0,467,470,
        1,0,0,0,468,466,1,0,0,0,469,461,1,0,0,0,469,470,1,0,0,0,470,471,
        1,0,0,0,471,473,5,17,0,0,472,460,1,0,0,0,472,473,1,0,0,0,473,477,
        1,0,0,0,474,476,3,14,7,0,475,474,1,0,0,0,476,479,1,0,0,0,477,475,
        1,0,0,0,477,478,1,0,0,0,478,480,1,0,0,0,479,477,1,0,0,0,480,482,
        5,10,0,0,481,344,1,0,0,0,481,365,1,0,0,0,481,388,1,0,0,0,481,392,
        1,0,0,0,481,396,1,0,0,0,481,397,1,0,0,0,481,408,1,0,0,0,481,412,
        1,0,0,0,481,422,1,0,0,0,481,433,1,0,0,0,481,444,1,0,0,0,482,39,1,
        0,0,0,483,485,5,19,0,0,484,486,5,53,0,0,485,484,1,0,0,0,486,487,
        1,0,0,0,487,485,1,0,0,0,487,488,1,0,0,0,488,489,1,0,0,0,489,494,
        3,42,21,0,490,491,5,3,0,0,491,493,3,42,21,0,492,490,1,0,0,0,493,
        496,1,0,0,0,494,492,1,0,0,0,494,495,1,0,0,0,495,497,1,0,0,0,496,
        494,1,0,0,0,497,498,5,10,0,0,498,41,1,0,0,0,499,503,5,52,0,0,500,
        501,5,20,0,0,501,502,5,55,0,0,502,504,5,21,0,0,503,500,1,0,0,0,503,
        504,1,0,0,0,504,43,1,0,0,0,505,514,5,52,0,0,506,509,5,52,0,0,507,
        508,5,13,0,0,508,510,5,55,0,0,509,507,1,0,0,0,509,510,1,0,0,0,510,
        515,1,0,0,0,511,512,5,55,0,0,512,513,5,55,0,0,513,515,5,55,0,0,514,
        506,1,0,0,0,514,511,1,0,0,0,515,45,1,0,0,0,516,525,5,7,0,0,517,522,
        3,46,23,0,518,519,5,3,0,0,519,521,3,46,23,0,520,518,1,0,0,0,521,
        524,1,0,0,0,522,520,1,0,0,0,522,523,1,0,0,0,523,526,1,0,0,0,524,
        522,1,0,0,0,525,517,1,0,0,0,525,526,1,0,0,0,526,527,1,0,0,0,527,
        530,5,8,0,0,528,529,5,34,0,0,529,531,5,52,0,0,530,528,1,0,0,0,530,
        531,1,0,0,0,531,589,1,0,0,0,532,533,5,25,0,0,533,538,3,46,23,0,534,
        535,5,3,0,0,535,537,3,46,23,0,536,534,1,0,0,0,537,540,1,0,0,0,538,
        536,1,0,0,0,538,539,1,0,0,0,539,541,1,0,0,0,540,538,1,0,0,0,541,
        542,5,26,0,0,542,589,1,0,0,0,543,564,5,16,0,0,544,545,5,53,0,0,545,
        546,5,17,0,0,546,565,3,46,23,0,547,552,3,46,23,0,548,549,5,3,0,0,
        549,551,3,46,23,0,550,548,1,0,0,0,551,554,1,0,0,0,552,550,1,0,0,
        0,552,553,1,0,0,0,553,556,1,0,0,0,554,552,1,0,0,0,555,547,1,0,0,
        0,555,556,1,0,0,0,556,557,1,0,0,0,557,561,5,17,0,0,558,560,3,50,
        25,0,559,558,1,0,0,0,560,563,1,0,0,0,561,559,1,0,0,0,561,562,1,0,
        0,0,562,565,1,0,0,0,563,561,1,0,0,0,564,544,1,0,0,0,564,555,1,0,
        0,0,565,589,1,0,0,0,566,577,5,52,0,0,567,568,5,25,0,0,568,569,3,
        46,23,0,569,570,5,26,0,0,570,578,1,0,0,0,571,573,3,50,25,0,572,571,
        1,0,0,0,573,576,1,0,0,0,574,572,1,0,0,0,574,575,1,0,0,0,575,578,
        1,0,0,0,576,574,1,0,0,0,577,567,1,0,0,0,577,574,1,0,0,0,578,589,
        1,0,0,0,579,580,7,8,0,0,580,589,3,46,23,0,581,585,7,9,0,0,582,584,
        3,50,25,0,583,582,1,0,0,0,584,587,1,0,0,0,585,583,1,0,0,0,585,586,
        1,0,0,0,586,589,1,0,0,0,587,585,1,0,0,0,588,516,1,0,0,0,588,532,
        1,0,0,0,588,543,1,0,0,0,588,566,1,0,0,0,588,579,1,0,0,0,588,581,
        1,0,0,0,589,47,1,0,0,0,590,594,3,52,26,0,591,593,3,50,25,0,592,591,
        1,0,0,0,593,596,1,0,0,0,594,592,1,0,0,0,594,595,1,0,0,0,595,49,1,
        0,0,0,596,594,1,0,0,0,597,598,7,10,0,0,598,599,3,52,26,0,599,51,
        1,0,0,0,600,602,7,8,0,0,601,600,1,0,0,0,602,605,1,0,0,0,603,601,
        1,0,0,0,603,604,1,0,0,0,604,625,1,0,0,0,605,603,1,0,0,0,606,609,
        7,11,0,0,607,609,5,52,0,0,608,606,1,0,0,0,608,607,1,0,0,0,609,614,
        1,0,0,0,610,611,5,16,0,0,611,612,3,48,24,0,612,613,5,17,0,0,613,
        615,1,0,0,0,614,610,1,0,0,0,614,615,1,0,0,0,615,626,1,0,0,0,616,
        623,5,16,0,0,617,618,5,53,0,0,618,619,5,17,0,0,619,624,3,52,26,0,
        620,621,3,48,24,0,621,622,5,17,0,0,622,624,1,0,0,0,623,617,1,0,0,
        0,623,620,1,0,0,0,624,626,1,0,0,0,625,608,1,0,0,0,625,616,1,0,0,
        0,626,53,1,0,0,0,89,57,70,82,90,102,115,119,126,136,139,142,147,
        152,158,167,172,181,184,187,192,197,201,210,214,222,225,229,235,
        243,249,255,259,265,270,275,280,292,304,308,312,322,325,331,333,
        339,349,357,360,363,367,374,382,385,392,405,418,428,439,451,454,
        457,466,469,472,477,481,487,494,503,509,514,522,525,530,538,552,
        555,561,564,574,577,585,588,594,603,608,614,623,625
    ]

class PtxParser ( Parser ):

    grammarFileName = "Ptx.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'.version'", "'.target'", "','", "'.address_size'", 
                     "'.file'", "'.section'", "'{'", "'}'", "'.pragma'", 
                     "';'", "'.alias'", "':'", "'+'", "'-'", "'.entry'", 
                     "'('", "')'", "'.func'", "'.reg'", "'<'", "'>'", "'='", 
                     "'.align'", "'.attribute'", "'['", "']'", "'@'", "'!'", 
                     "'.loc'", "'.loc_intermediate'", "'.branchtargets'", 
                     "'.calltargets'", "'.callprototype'", "'|'", "'~'", 
                     "'*'", "'/'", "'%'", "'<<'", "'>>'", "'<='", "'>='", 
                     "'=='", "'!='", "'&'", "'^'", "'&&'", "'||'", "'?'" ]

    symbolicNames = [ "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "LINKAGE", "SPACE", "NAME", 
                      "DOTTED", "FLOAT", "INTEGER", "STRING", "DWARF", "SOURCES", 
                      "SPACES", "LINE_COMMENT", "BLOCK_COMMENT", "LINE_MARK", 
                      "OTHER" ]

    RULE_module = 0
    RULE_item = 1
    RULE_sectionWord = 2
    RULE_linked = 3
    RULE_entry = 4
    RULE_function = 5
    RULE_marking = 6
    RULE_directive = 7
    RULE_setting = 8
    RULE_variables = 9
    RULE_parameter = 10
    RULE_declarator = 11
    RULE_qualifier = 12
    RULE_alignment = 13
    RULE_attributes = 14
    RULE_attribute = 15
    RULE_dimension = 16
    RULE_initializer = 17
    RULE_block = 18
    RULE_statement = 19
    RULE_registers = 20
    RULE_numbered = 21
    RULE_locationWord = 22
    RULE_operand = 23
    RULE_expression = 24
    RULE_expressionTail = 25
    RULE_expressionTerm = 26

    ruleNames =  [ "module", "item", "sectionWord", "linked", "entry", "function", 
                   "marking", "directive", "setting", "variables", "parameter", 
                   "declarator", "qualifier", "alignment", "attributes", 
                   "attribute", "dimension", "initializer", "block", "statement", 
                   "registers", "numbered", "locationWord", "operand", "expression", 
                   "expressionTail", "expressionTerm" ]

    EOF = Token.EOF
    T__0=1
    T__1=2
    T__2=3
    T__3=4
    T__4=5
    T__5=6
    T__6=7
    T__7=8
    T__8=9
    T__9=10
    T__10=11
    T__11=12
    T__12=13
    T__13=14
    T__14=15
    T__15=16
    T__16=17
    T__17=18
    T__18=19
    T__19=20
    T__20=21
    T__21=22
    T__22=23
    T__23=24
    T__24=25
    T__25=26
    T__26=27
    T__27=28
    T__28=29
    T__29=30
    T__30=31
    T__31=32
    T__32=33
    T__33=34
    T__34=35
    T__35=36
    T__36=37
    T__37=38
    T__38=39
    T__39=40
    T__40=41
    T__41=42
    T__42=43
    T__43=44
    T__44=45
    T__45=46
    T__46=47
    T__47=48
    T__48=49
    LINKAGE=50
    SPACE=51
    NAME=52
    DOTTED=53
    FLOAT=54
    INTEGER=55
    STRING=56
    DWARF=57
    SOURCES=58
    SPACES=59
    LINE_COMMENT=60
    BLOCK_COMMENT=61
    LINE_MARK=62
    OTHER=63

    def __init__(self, input:TokenStream, output:TextIO = sys.stdout):
        super().__init__(input, output)
        self.checkVersion("4.13.2")
        self._interp = ParserATNSimulator(self, self.atn, self.decisionsToDFA, self.sharedContextCache)
        self._predicates = None




    class ModuleContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._item = None # ItemContext
            self.items = list() # of ItemContexts

        def EOF(self):
            return self.getToken(PtxParser.EOF, 0)

        def item(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ItemContext)
            else:
                return self.getTypedRuleContext(PtxParser.ItemContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_module




    def module(self):

        localctx = PtxParser.ModuleContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_module)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 57
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 435723263974083190) != 0):
                self.state = 54
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 59
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 60
            self.match(PtxParser.EOF)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ItemContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_item

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VersionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.number = None # Token
            self.copyFrom(ctx)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)
        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class TargetContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class AddressSizeContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.bits = None # Token
            self.copyFrom(ctx)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)


    class FileContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.index = None # Token
            self.path = None # Token
            self.stamp = None # Token
            self.size = None # Token
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)


    class SectionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.name = None # Token
            self._sectionWord = None # SectionWordContext
            self.words = list() # of SectionWordContexts
            self.copyFrom(ctx)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def sectionWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.SectionWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.SectionWordContext,i)



    class DwarfContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.line = None # Token
            self.copyFrom(ctx)

        def DWARF(self):
            return self.getToken(PtxParser.DWARF, 0)


    class SourcesContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.text = None # Token
            self.copyFrom(ctx)

        def SOURCES(self):
            return self.getToken(PtxParser.SOURCES, 0)


    class ModulePragmaContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class AliasContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class ModuleRegistersContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.of = None # RegistersContext
            self.copyFrom(ctx)

        def registers(self):
            return self.getTypedRuleContext(PtxParser.RegistersContext,0)



    class SymbolContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # LinkedContext
            self.copyFrom(ctx)

        def linked(self):
            return self.getTypedRuleContext(PtxParser.LinkedContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)



    def item(self):

        localctx = PtxParser.ItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_item)
        self._la = 0 # Token type
        try:
            self.state = 119
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1]:
                localctx = PtxParser.VersionContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 62
                self.match(PtxParser.T__0)
                self.state = 63
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 58546795155816448) != 0)):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [2]:
                localctx = PtxParser.TargetContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 64
                self.match(PtxParser.T__1)
                self.state = 65
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 70
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 66
                    self.match(PtxParser.T__2)
                    self.state = 67
                    localctx._NAME = self.match(PtxParser.NAME)
                    localctx.names.append(localctx._NAME)
                    self.state = 72
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [4]:
                localctx = PtxParser.AddressSizeContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 73
                self.match(PtxParser.T__3)
                self.state = 74
                localctx.bits = self.match(PtxParser.INTEGER)
                pass
            elif token in [5]:
                localctx = PtxParser.FileContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 75
                self.match(PtxParser.T__4)
                self.state = 76
                localctx.index = self.match(PtxParser.INTEGER)
                self.state = 77
                localctx.path = self.match(PtxParser.STRING)
                self.state = 82
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==3:
                    self.state = 78
                    self.match(PtxParser.T__2)
                    self.state = 79
                    localctx.stamp = self.match(PtxParser.INTEGER)
                    self.state = 80
                    self.match(PtxParser.T__2)
                    self.state = 81
                    localctx.size = self.match(PtxParser.INTEGER)


                pass
            elif token in [6]:
                localctx = PtxParser.SectionContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 84
                self.match(PtxParser.T__5)
                self.state = 85
                localctx.name = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==52 or _la==53):
                    localctx.name = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 86
                self.match(PtxParser.T__6)
                self.state = 90
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 139611588448514088) != 0):
                    self.state = 87
                    localctx._sectionWord = self.sectionWord()
                    localctx.words.append(localctx._sectionWord)
                    self.state = 92
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 93
                self.match(PtxParser.T__7)
                pass
            elif token in [57]:
                localctx = PtxParser.DwarfContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 94
                localctx.line = self.match(PtxParser.DWARF)
                pass
            elif token in [58]:
                localctx = PtxParser.SourcesContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 95
                localctx.text = self.match(PtxParser.SOURCES)
                pass
            elif token in [9]:
                localctx = PtxParser.ModulePragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 96
                self.match(PtxParser.T__8)
                self.state = 97
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 102
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 98
                    self.match(PtxParser.T__2)
                    self.state = 99
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 104
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 105
                self.match(PtxParser.T__9)
                pass
            elif token in [11]:
                localctx = PtxParser.AliasContext(self, localctx)
                self.enterOuterAlt(localctx, 9)
                self.state = 106
                self.match(PtxParser.T__10)
                self.state = 107
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 108
                self.match(PtxParser.T__2)
                self.state = 109
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 110
                self.match(PtxParser.T__9)
                pass
            elif token in [19]:
                localctx = PtxParser.ModuleRegistersContext(self, localctx)
                self.enterOuterAlt(localctx, 10)
                self.state = 111
                localctx.of = self.registers()
                pass
            elif token in [15, 18, 23, 24, 50, 51]:
                localctx = PtxParser.SymbolContext(self, localctx)
                self.enterOuterAlt(localctx, 11)
                self.state = 115
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==50:
                    self.state = 112
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 117
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 118
                localctx.of = self.linked()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SectionWordContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_sectionWord




    def sectionWord(self):

        localctx = PtxParser.SectionWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_sectionWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 121
            localctx.word = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 139611588448514088) != 0)):
                localctx.word = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LinkedContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of_variables = None # VariablesContext
            self.of_entry = None # EntryContext
            self.of_function = None # FunctionContext

        def variables(self):
            return self.getTypedRuleContext(PtxParser.VariablesContext,0)


        def entry(self):
            return self.getTypedRuleContext(PtxParser.EntryContext,0)


        def function(self):
            return self.getTypedRuleContext(PtxParser.FunctionContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_linked




    def linked(self):

        localctx = PtxParser.LinkedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_linked)
        try:
            self.state = 126
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [23, 24, 51]:
                self.enterOuterAlt(localctx, 1)
                self.state = 123
                localctx.of_variables = self.variables()
                pass
            elif token in [15]:
                self.enterOuterAlt(localctx, 2)
                self.state = 124
                localctx.of_entry = self.entry()
                pass
            elif token in [18]:
                self.enterOuterAlt(localctx, 3)
                self.state = 125
                localctx.of_function = self.function()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EntryContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._parameter = None # ParameterContext
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)


        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_entry




    def entry(self):

        localctx = PtxParser.EntryContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_entry)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 128
            self.match(PtxParser.T__14)
            self.state = 129
            localctx.name = self.match(PtxParser.NAME)
            self.state = 142
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 130
                self.match(PtxParser.T__15)
                self.state = 139
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 2251799822598144) != 0):
                    self.state = 131
                    localctx._parameter = self.parameter()
                    localctx.params.append(localctx._parameter)
                    self.state = 136
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 132
                        self.match(PtxParser.T__2)
                        self.state = 133
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 138
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 141
                self.match(PtxParser.T__16)


            self.state = 147
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==9 or _la==53:
                self.state = 144
                localctx._directive = self.directive()
                localctx.directives.append(localctx._directive)
                self.state = 149
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 152
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 150
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 151
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FunctionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._marking = None # MarkingContext
            self.before = list() # of MarkingContexts
            self._parameter = None # ParameterContext
            self.results = list() # of ParameterContexts
            self.name = None # Token
            self.params = list() # of ParameterContexts
            self._setting = None # SettingContext
            self.directives = list() # of SettingContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def marking(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.MarkingContext)
            else:
                return self.getTypedRuleContext(PtxParser.MarkingContext,i)


        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)


        def setting(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.SettingContext)
            else:
                return self.getTypedRuleContext(PtxParser.SettingContext,i)


        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_function




    def function(self):

        localctx = PtxParser.FunctionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_function)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 154
            self.match(PtxParser.T__17)
            self.state = 158
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24 or _la==53:
                self.state = 155
                localctx._marking = self.marking()
                localctx.before.append(localctx._marking)
                self.state = 160
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 172
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 161
                self.match(PtxParser.T__15)
                self.state = 162
                localctx._parameter = self.parameter()
                localctx.results.append(localctx._parameter)
                self.state = 167
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 163
                    self.match(PtxParser.T__2)
                    self.state = 164
                    localctx._parameter = self.parameter()
                    localctx.results.append(localctx._parameter)
                    self.state = 169
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 170
                self.match(PtxParser.T__16)


            self.state = 174
            localctx.name = self.match(PtxParser.NAME)
            self.state = 187
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 175
                self.match(PtxParser.T__15)
                self.state = 184
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 2251799822598144) != 0):
                    self.state = 176
                    localctx._parameter = self.parameter()
                    localctx.params.append(localctx._parameter)
                    self.state = 181
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 177
                        self.match(PtxParser.T__2)
                        self.state = 178
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 183
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 186
                self.match(PtxParser.T__16)


            self.state = 192
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==53:
                self.state = 189
                localctx._setting = self.setting()
                localctx.directives.append(localctx._setting)
                self.state = 194
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 197
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 195
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 196
                self.match(PtxParser.T__9)
                pass
            elif token in [-1, 1, 2, 4, 5, 6, 9, 11, 15, 18, 19, 23, 24, 50, 51, 57, 58]:
                pass
            else:
                pass
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class MarkingContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.of = None # AttributesContext

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_marking




    def marking(self):

        localctx = PtxParser.MarkingContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_marking)
        try:
            self.state = 201
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [53]:
                self.enterOuterAlt(localctx, 1)
                self.state = 199
                localctx.word = self.match(PtxParser.DOTTED)
                pass
            elif token in [24]:
                self.enterOuterAlt(localctx, 2)
                self.state = 200
                localctx.of = self.attributes()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DirectiveContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of = None # SettingContext
            self._STRING = None # Token
            self.texts = list() # of Tokens

        def setting(self):
            return self.getTypedRuleContext(PtxParser.SettingContext,0)


        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)

        def getRuleIndex(self):
            return PtxParser.RULE_directive




    def directive(self):

        localctx = PtxParser.DirectiveContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_directive)
        self._la = 0 # Token type
        try:
            self.state = 214
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [53]:
                self.enterOuterAlt(localctx, 1)
                self.state = 203
                localctx.of = self.setting()
                pass
            elif token in [9]:
                self.enterOuterAlt(localctx, 2)
                self.state = 204
                self.match(PtxParser.T__8)
                self.state = 205
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 210
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 206
                    self.match(PtxParser.T__2)
                    self.state = 207
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 212
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 213
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SettingContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens
            self._STRING = None # Token
            self._tset492 = None # Token
            self._tset505 = None # Token

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)

        def getRuleIndex(self):
            return PtxParser.RULE_setting




    def setting(self):

        localctx = PtxParser.SettingContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_setting)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 216
            localctx.name = self.match(PtxParser.DOTTED)
            self.state = 225
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==55 or _la==56:
                self.state = 217
                localctx._tset492 = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==55 or _la==56):
                    localctx._tset492 = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                localctx.values.append(localctx._tset492)
                self.state = 222
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 218
                    self.match(PtxParser.T__2)
                    self.state = 219
                    localctx._tset505 = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not(_la==55 or _la==56):
                        localctx._tset505 = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    localctx.values.append(localctx._tset505)
                    self.state = 224
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class VariablesContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of = None # AttributesContext
            self.aligned = None # AlignmentContext
            self.space = None # Token
            self._qualifier = None # QualifierContext
            self.qualifiers = list() # of QualifierContexts
            self._declarator = None # DeclaratorContext
            self.declared = list() # of DeclaratorContexts

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def declarator(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DeclaratorContext)
            else:
                return self.getTypedRuleContext(PtxParser.DeclaratorContext,i)


        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def alignment(self):
            return self.getTypedRuleContext(PtxParser.AlignmentContext,0)


        def qualifier(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.QualifierContext)
            else:
                return self.getTypedRuleContext(PtxParser.QualifierContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_variables




    def variables(self):

        localctx = PtxParser.VariablesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_variables)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 229
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [24]:
                self.state = 227
                localctx.of = self.attributes()
                pass
            elif token in [23]:
                self.state = 228
                localctx.aligned = self.alignment()
                pass
            elif token in [51]:
                pass
            else:
                pass
            self.state = 231
            localctx.space = self.match(PtxParser.SPACE)
            self.state = 235
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 11258999093592064) != 0):
                self.state = 232
                localctx._qualifier = self.qualifier()
                localctx.qualifiers.append(localctx._qualifier)
                self.state = 237
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 238
            localctx._declarator = self.declarator()
            localctx.declared.append(localctx._declarator)
            self.state = 243
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 239
                self.match(PtxParser.T__2)
                self.state = 240
                localctx._declarator = self.declarator()
                localctx.declared.append(localctx._declarator)
                self.state = 245
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 246
            self.match(PtxParser.T__9)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ParameterContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.aligned = None # AlignmentContext
            self.space = None # Token
            self._qualifier = None # QualifierContext
            self.qualifiers = list() # of QualifierContexts
            self.of = None # DeclaratorContext

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def alignment(self):
            return self.getTypedRuleContext(PtxParser.AlignmentContext,0)


        def qualifier(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.QualifierContext)
            else:
                return self.getTypedRuleContext(PtxParser.QualifierContext,i)


        def declarator(self):
            return self.getTypedRuleContext(PtxParser.DeclaratorContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_parameter




    def parameter(self):

        localctx = PtxParser.ParameterContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_parameter)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 249
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==23:
                self.state = 248
                localctx.aligned = self.alignment()


            self.state = 251
            localctx.space = self._input.LT(1)
            _la = self._input.LA(1)
            if not(_la==19 or _la==51):
                localctx.space = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 255
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 11258999093592064) != 0):
                self.state = 252
                localctx._qualifier = self.qualifier()
                localctx.qualifiers.append(localctx._qualifier)
                self.state = 257
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 259
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==52:
                self.state = 258
                localctx.of = self.declarator()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DeclaratorContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self.count = None # Token
            self._dimension = None # DimensionContext
            self.dims = list() # of DimensionContexts
            self.init = None # InitializerContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def dimension(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DimensionContext)
            else:
                return self.getTypedRuleContext(PtxParser.DimensionContext,i)


        def initializer(self):
            return self.getTypedRuleContext(PtxParser.InitializerContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_declarator




    def declarator(self):

        localctx = PtxParser.DeclaratorContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_declarator)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 261
            localctx.name = self.match(PtxParser.NAME)
            self.state = 265
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==20:
                self.state = 262
                self.match(PtxParser.T__19)
                self.state = 263
                localctx.count = self.match(PtxParser.INTEGER)
                self.state = 264
                self.match(PtxParser.T__20)


            self.state = 270
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==25:
                self.state = 267
                localctx._dimension = self.dimension()
                localctx.dims.append(localctx._dimension)
                self.state = 272
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 275
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==22:
                self.state = 273
                self.match(PtxParser.T__21)
                self.state = 274
                localctx.init = self.initializer()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class QualifierContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.aligned = None # AlignmentContext
            self.of = None # AttributesContext

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def alignment(self):
            return self.getTypedRuleContext(PtxParser.AlignmentContext,0)


        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_qualifier




    def qualifier(self):

        localctx = PtxParser.QualifierContext(self, self._ctx, self.state)
        self.enterRule(localctx, 24, self.RULE_qualifier)
        self._la = 0 # Token type
        try:
            self.state = 280
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [51, 53]:
                self.enterOuterAlt(localctx, 1)
                self.state = 277
                localctx.word = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==51 or _la==53):
                    localctx.word = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [23]:
                self.enterOuterAlt(localctx, 2)
                self.state = 278
                localctx.aligned = self.alignment()
                pass
            elif token in [24]:
                self.enterOuterAlt(localctx, 3)
                self.state = 279
                localctx.of = self.attributes()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AlignmentContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.bytes_ = None # Token

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_alignment




    def alignment(self):

        localctx = PtxParser.AlignmentContext(self, self._ctx, self.state)
        self.enterRule(localctx, 26, self.RULE_alignment)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 282
            self.match(PtxParser.T__22)
            self.state = 283
            localctx.bytes_ = self.match(PtxParser.INTEGER)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributesContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._attribute = None # AttributeContext
            self.each = list() # of AttributeContexts

        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.AttributeContext)
            else:
                return self.getTypedRuleContext(PtxParser.AttributeContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_attributes




    def attributes(self):

        localctx = PtxParser.AttributesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 28, self.RULE_attributes)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 285
            self.match(PtxParser.T__23)
            self.state = 286
            self.match(PtxParser.T__15)
            self.state = 287
            localctx._attribute = self.attribute()
            localctx.each.append(localctx._attribute)
            self.state = 292
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 288
                self.match(PtxParser.T__2)
                self.state = 289
                localctx._attribute = self.attribute()
                localctx.each.append(localctx._attribute)
                self.state = 294
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 295
            self.match(PtxParser.T__16)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributeContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_attribute




    def attribute(self):

        localctx = PtxParser.AttributeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 30, self.RULE_attribute)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 297
            localctx.name = self.match(PtxParser.DOTTED)
            self.state = 308
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 298
                self.match(PtxParser.T__15)
                self.state = 299
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.values.append(localctx._INTEGER)
                self.state = 304
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 300
                    self.match(PtxParser.T__2)
                    self.state = 301
                    localctx._INTEGER = self.match(PtxParser.INTEGER)
                    localctx.values.append(localctx._INTEGER)
                    self.state = 306
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 307
                self.match(PtxParser.T__16)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DimensionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.size = None # Token

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_dimension




    def dimension(self):

        localctx = PtxParser.DimensionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 32, self.RULE_dimension)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 310
            self.match(PtxParser.T__24)
            self.state = 312
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==52 or _la==55:
                self.state = 311
                localctx.size = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==52 or _la==55):
                    localctx.size = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


            self.state = 314
            self.match(PtxParser.T__25)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class InitializerContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._initializer = None # InitializerContext
            self.parts = list() # of InitializerContexts
            self.of = None # ExpressionContext
            self.value_ = None # ExpressionContext

        def initializer(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.InitializerContext)
            else:
                return self.getTypedRuleContext(PtxParser.InitializerContext,i)


        def expression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_initializer




    def initializer(self):

        localctx = PtxParser.InitializerContext(self, self._ctx, self.state)
        self.enterRule(localctx, 34, self.RULE_initializer)
        self._la = 0 # Token type
        try:
            self.state = 333
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.enterOuterAlt(localctx, 1)
                self.state = 316
                self.match(PtxParser.T__6)
                self.state = 325
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 130604423822008448) != 0):
                    self.state = 317
                    localctx._initializer = self.initializer()
                    localctx.parts.append(localctx._initializer)
                    self.state = 322
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 318
                        self.match(PtxParser.T__2)
                        self.state = 319
                        localctx._initializer = self.initializer()
                        localctx.parts.append(localctx._initializer)
                        self.state = 324
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 327
                self.match(PtxParser.T__7)
                pass
            elif token in [13, 14, 16, 28, 35, 52, 54, 55, 56]:
                self.enterOuterAlt(localctx, 2)
                self.state = 328
                localctx.of = self.expression()
                self.state = 331
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==22:
                    self.state = 329
                    self.match(PtxParser.T__21)
                    self.state = 330
                    localctx.value_ = self.expression()


                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class BlockContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._statement = None # StatementContext
            self.statements = list() # of StatementContexts

        def statement(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.StatementContext)
            else:
                return self.getTypedRuleContext(PtxParser.StatementContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_block




    def block(self):

        localctx = PtxParser.BlockContext(self, self._ctx, self.state)
        self.enterRule(localctx, 36, self.RULE_block)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 335
            self.match(PtxParser.T__6)
            self.state = 339
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 7881316150805120) != 0):
                self.state = 336
                localctx._statement = self.statement()
                localctx.statements.append(localctx._statement)
                self.state = 341
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 342
            self.match(PtxParser.T__7)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StatementContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_statement

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class NamedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.name = None # Token
            self.colon = None # Token
            self._DOTTED = None # Token
            self.words = list() # of Tokens
            self._SPACE = None # Token
            self._LINKAGE = None # Token
            self.s11 = None # Token
            self._tset804 = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)
        def SPACE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.SPACE)
            else:
                return self.getToken(PtxParser.SPACE, i)
        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class GuardedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.negated = None # Token
            self.guard = None # Token
            self.name = None # Token
            self._DOTTED = None # Token
            self.words = list() # of Tokens
            self._SPACE = None # Token
            self._LINKAGE = None # Token
            self.s11 = None # Token
            self._tset863 = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)
        def SPACE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.SPACE)
            else:
                return self.getToken(PtxParser.SPACE, i)
        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class LocalRegistersContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.of = None # RegistersContext
            self.copyFrom(ctx)

        def registers(self):
            return self.getTypedRuleContext(PtxParser.RegistersContext,0)



    class LocalContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # VariablesContext
            self.copyFrom(ctx)

        def variables(self):
            return self.getTypedRuleContext(PtxParser.VariablesContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class ScopeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.of_block = None # BlockContext
            self.copyFrom(ctx)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)



    class LocationContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._INTEGER = None # Token
            self.where = list() # of Tokens
            self._locationWord = None # LocationWordContext
            self.words = list() # of LocationWordContexts
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def locationWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.LocationWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.LocationWordContext,i)



    class IntermediateLocationContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._INTEGER = None # Token
            self.where = list() # of Tokens
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)


    class PragmaContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class BranchTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts
            self.copyFrom(ctx)

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)



    class CallTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts
            self.copyFrom(ctx)

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)



    class CallPrototypeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._parameter = None # ParameterContext
            self.results = list() # of ParameterContexts
            self.name = None # Token
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)

        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)




    def statement(self):

        localctx = PtxParser.StatementContext(self, self._ctx, self.state)
        self.enterRule(localctx, 38, self.RULE_statement)
        self._la = 0 # Token type
        try:
            self.state = 481
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                localctx = PtxParser.NamedContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 344
                localctx.name = self.match(PtxParser.NAME)
                self.state = 363
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [12]:
                    self.state = 345
                    localctx.colon = self.match(PtxParser.T__11)
                    pass
                elif token in [7, 10, 11, 13, 14, 16, 25, 28, 35, 50, 51, 52, 53, 54, 55]:
                    self.state = 349
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 12384898975270912) != 0):
                        self.state = 346
                        localctx._tset804 = self._input.LT(1)
                        _la = self._input.LA(1)
                        if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 12384898975270912) != 0)):
                            localctx._tset804 = self._errHandler.recoverInline(self)
                        else:
                            self._errHandler.reportMatch(self)
                            self.consume()
                        localctx.words.append(localctx._tset804)
                        self.state = 351
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    self.state = 360
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 58546829817634944) != 0):
                        self.state = 352
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 357
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 353
                            self.match(PtxParser.T__2)
                            self.state = 354
                            localctx._operand = self.operand()
                            localctx.operands.append(localctx._operand)
                            self.state = 359
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 362
                    self.match(PtxParser.T__9)
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [27]:
                localctx = PtxParser.GuardedContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 365
                self.match(PtxParser.T__26)
                self.state = 367
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==28:
                    self.state = 366
                    localctx.negated = self.match(PtxParser.T__27)


                self.state = 369
                localctx.guard = self.match(PtxParser.NAME)
                self.state = 370
                localctx.name = self.match(PtxParser.NAME)
                self.state = 374
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 12384898975270912) != 0):
                    self.state = 371
                    localctx._tset863 = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 12384898975270912) != 0)):
                        localctx._tset863 = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    localctx.words.append(localctx._tset863)
                    self.state = 376
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 385
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 58546829817634944) != 0):
                    self.state = 377
                    localctx._operand = self.operand()
                    localctx.operands.append(localctx._operand)
                    self.state = 382
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 378
                        self.match(PtxParser.T__2)
                        self.state = 379
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 384
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 387
                self.match(PtxParser.T__9)
                pass
            elif token in [19]:
                localctx = PtxParser.LocalRegistersContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 388
                localctx.of = self.registers()
                pass
            elif token in [23, 24, 50, 51]:
                localctx = PtxParser.LocalContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 392
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==50:
                    self.state = 389
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 394
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 395
                localctx.of = self.variables()
                pass
            elif token in [7]:
                localctx = PtxParser.ScopeContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 396
                localctx.of_block = self.block()
                pass
            elif token in [29]:
                localctx = PtxParser.LocationContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 397
                self.match(PtxParser.T__28)
                self.state = 398
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 399
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 400
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 405
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 401
                    self.match(PtxParser.T__2)
                    self.state = 402
                    localctx._locationWord = self.locationWord()
                    localctx.words.append(localctx._locationWord)
                    self.state = 407
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [30]:
                localctx = PtxParser.IntermediateLocationContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 408
                self.match(PtxParser.T__29)
                self.state = 409
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 410
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 411
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                pass
            elif token in [9]:
                localctx = PtxParser.PragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 412
                self.match(PtxParser.T__8)
                self.state = 413
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 418
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 414
                    self.match(PtxParser.T__2)
                    self.state = 415
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 420
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 421
                self.match(PtxParser.T__9)
                pass
            elif token in [31]:
                localctx = PtxParser.BranchTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 9)
                self.state = 422
                self.match(PtxParser.T__30)
                self.state = 423
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 428
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 424
                    self.match(PtxParser.T__2)
                    self.state = 425
                    localctx._numbered = self.numbered()
                    localctx.names.append(localctx._numbered)
                    self.state = 430
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 431
                self.match(PtxParser.T__9)
                pass
            elif token in [32]:
                localctx = PtxParser.CallTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 10)
                self.state = 433
                self.match(PtxParser.T__31)
                self.state = 434
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 439
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 435
                    self.match(PtxParser.T__2)
                    self.state = 436
                    localctx._numbered = self.numbered()
                    localctx.names.append(localctx._numbered)
                    self.state = 441
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 442
                self.match(PtxParser.T__9)
                pass
            elif token in [33]:
                localctx = PtxParser.CallPrototypeContext(self, localctx)
                self.enterOuterAlt(localctx, 11)
                self.state = 444
                self.match(PtxParser.T__32)
                self.state = 457
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 445
                    self.match(PtxParser.T__15)
                    self.state = 454
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 2251799822598144) != 0):
                        self.state = 446
                        localctx._parameter = self.parameter()
                        localctx.results.append(localctx._parameter)
                        self.state = 451
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 447
                            self.match(PtxParser.T__2)
                            self.state = 448
                            localctx._parameter = self.parameter()
                            localctx.results.append(localctx._parameter)
                            self.state = 453
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 456
                    self.match(PtxParser.T__16)


                self.state = 459
                localctx.name = self.match(PtxParser.NAME)
                self.state = 472
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 460
                    self.match(PtxParser.T__15)
                    self.state = 469
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 2251799822598144) != 0):
                        self.state = 461
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 466
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 462
                            self.match(PtxParser.T__2)
                            self.state = 463
                            localctx._parameter = self.parameter()
                            localctx.params.append(localctx._parameter)
                            self.state = 468
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 471
                    self.match(PtxParser.T__16)


                self.state = 477
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==9 or _la==53:
                    self.state = 474
                    localctx._directive = self.directive()
                    localctx.directives.append(localctx._directive)
                    self.state = 479
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 480
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class RegistersContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._DOTTED = None # Token
            self.types = list() # of Tokens
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)


        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)

        def getRuleIndex(self):
            return PtxParser.RULE_registers




    def registers(self):

        localctx = PtxParser.RegistersContext(self, self._ctx, self.state)
        self.enterRule(localctx, 40, self.RULE_registers)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 483
            self.match(PtxParser.T__18)
            self.state = 485 
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while True:
                self.state = 484
                localctx._DOTTED = self.match(PtxParser.DOTTED)
                localctx.types.append(localctx._DOTTED)
                self.state = 487 
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if not (_la==53):
                    break

            self.state = 489
            localctx._numbered = self.numbered()
            localctx.names.append(localctx._numbered)
            self.state = 494
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 490
                self.match(PtxParser.T__2)
                self.state = 491
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 496
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 497
            self.match(PtxParser.T__9)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NumberedContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self.count = None # Token

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_numbered




    def numbered(self):

        localctx = PtxParser.NumberedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 42, self.RULE_numbered)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 499
            localctx.name = self.match(PtxParser.NAME)
            self.state = 503
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==20:
                self.state = 500
                self.match(PtxParser.T__19)
                self.state = 501
                localctx.count = self.match(PtxParser.INTEGER)
                self.state = 502
                self.match(PtxParser.T__20)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LocationWordContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.name = None # Token
            self.offset = None # Token
            self._INTEGER = None # Token
            self.where = list() # of Tokens

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_locationWord




    def locationWord(self):

        localctx = PtxParser.LocationWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 44, self.RULE_locationWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 505
            localctx.word = self.match(PtxParser.NAME)
            self.state = 514
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                self.state = 506
                localctx.name = self.match(PtxParser.NAME)
                self.state = 509
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==13:
                    self.state = 507
                    self.match(PtxParser.T__12)
                    self.state = 508
                    localctx.offset = self.match(PtxParser.INTEGER)


                pass
            elif token in [55]:
                self.state = 511
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 512
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 513
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class OperandContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_operand

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VectorContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.other = None # Token
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class AddressContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)



    class TupleContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.cast = None # Token
            self.of = None # OperandContext
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)



    class SymbolicContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.first = None # Token
            self.index = None # OperandContext
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def operand(self):
            return self.getTypedRuleContext(PtxParser.OperandContext,0)

        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)



    class SignedContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.sign = None # Token
            self.of = None # OperandContext
            self.copyFrom(ctx)

        def operand(self):
            return self.getTypedRuleContext(PtxParser.OperandContext,0)



    class LiteralContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.number = None # Token
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)
        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)
        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)




    def operand(self):

        localctx = PtxParser.OperandContext(self, self._ctx, self.state)
        self.enterRule(localctx, 46, self.RULE_operand)
        self._la = 0 # Token type
        try:
            self.state = 588
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                localctx = PtxParser.VectorContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 516
                self.match(PtxParser.T__6)
                self.state = 525
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 58546829817634944) != 0):
                    self.state = 517
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 522
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 518
                        self.match(PtxParser.T__2)
                        self.state = 519
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 524
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 527
                self.match(PtxParser.T__7)
                self.state = 530
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==34:
                    self.state = 528
                    self.match(PtxParser.T__33)
                    self.state = 529
                    localctx.other = self.match(PtxParser.NAME)


                pass
            elif token in [25]:
                localctx = PtxParser.AddressContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 532
                self.match(PtxParser.T__24)
                self.state = 533
                localctx._operand = self.operand()
                localctx.parts.append(localctx._operand)
                self.state = 538
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 534
                    self.match(PtxParser.T__2)
                    self.state = 535
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 540
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 541
                self.match(PtxParser.T__25)
                pass
            elif token in [16]:
                localctx = PtxParser.TupleContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 543
                self.match(PtxParser.T__15)
                self.state = 564
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [53]:
                    self.state = 544
                    localctx.cast = self.match(PtxParser.DOTTED)
                    self.state = 545
                    self.match(PtxParser.T__16)
                    self.state = 546
                    localctx.of = self.operand()
                    pass
                elif token in [7, 13, 14, 16, 17, 25, 28, 35, 52, 54, 55]:
                    self.state = 555
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 58546829817634944) != 0):
                        self.state = 547
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 552
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 548
                            self.match(PtxParser.T__2)
                            self.state = 549
                            localctx._operand = self.operand()
                            localctx.parts.append(localctx._operand)
                            self.state = 554
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 557
                    self.match(PtxParser.T__16)
                    self.state = 561
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0):
                        self.state = 558
                        localctx._expressionTail = self.expressionTail()
                        localctx.tail.append(localctx._expressionTail)
                        self.state = 563
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [52]:
                localctx = PtxParser.SymbolicContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 566
                localctx.first = self.match(PtxParser.NAME)
                self.state = 577
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [25]:
                    self.state = 567
                    self.match(PtxParser.T__24)
                    self.state = 568
                    localctx.index = self.operand()
                    self.state = 569
                    self.match(PtxParser.T__25)
                    pass
                elif token in [3, 8, 10, 12, 13, 14, 17, 20, 21, 26, 34, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49]:
                    self.state = 574
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0):
                        self.state = 571
                        localctx._expressionTail = self.expressionTail()
                        localctx.tail.append(localctx._expressionTail)
                        self.state = 576
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [13, 14, 28, 35]:
                localctx = PtxParser.SignedContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 579
                localctx.sign = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 34628198400) != 0)):
                    localctx.sign = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 580
                localctx.of = self.operand()
                pass
            elif token in [54, 55]:
                localctx = PtxParser.LiteralContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 581
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==54 or _la==55):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 585
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0):
                    self.state = 582
                    localctx._expressionTail = self.expressionTail()
                    localctx.tail.append(localctx._expressionTail)
                    self.state = 587
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.first = None # ExpressionTermContext
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_expression




    def expression(self):

        localctx = PtxParser.ExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 48, self.RULE_expression)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 590
            localctx.first = self.expressionTerm()
            self.state = 594
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0):
                self.state = 591
                localctx._expressionTail = self.expressionTail()
                localctx.tail.append(localctx._expressionTail)
                self.state = 596
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTailContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.operator = None # Token
            self.of = None # ExpressionTermContext

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_expressionTail




    def expressionTail(self):

        localctx = PtxParser.ExpressionTailContext(self, self._ctx, self.state)
        self.enterRule(localctx, 50, self.RULE_expressionTail)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 597
            localctx.operator = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 1125848370409472) != 0)):
                localctx.operator = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 598
            localctx.of = self.expressionTerm()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTermContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.s14 = None # Token
            self.signs = list() # of Tokens
            self.s13 = None # Token
            self.s35 = None # Token
            self.s28 = None # Token
            self._tset1506 = None # Token
            self.of = None # Token
            self.name = None # Token
            self.inner = None # ExpressionContext
            self.cast = None # Token
            self.casted = None # ExpressionTermContext
            self.nested = None # ExpressionContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def expression(self):
            return self.getTypedRuleContext(PtxParser.ExpressionContext,0)


        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_expressionTerm




    def expressionTerm(self):

        localctx = PtxParser.ExpressionTermContext(self, self._ctx, self.state)
        self.enterRule(localctx, 52, self.RULE_expressionTerm)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 603
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 34628198400) != 0):
                self.state = 600
                localctx._tset1506 = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 34628198400) != 0)):
                    localctx._tset1506 = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                localctx.signs.append(localctx._tset1506)
                self.state = 605
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 625
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52, 54, 55, 56]:
                self.state = 608
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [54, 55, 56]:
                    self.state = 606
                    localctx.of = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 126100789566373888) != 0)):
                        localctx.of = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    pass
                elif token in [52]:
                    self.state = 607
                    localctx.name = self.match(PtxParser.NAME)
                    pass
                else:
                    raise NoViableAltException(self)

                self.state = 614
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 610
                    self.match(PtxParser.T__15)
                    self.state = 611
                    localctx.inner = self.expression()
                    self.state = 612
                    self.match(PtxParser.T__16)


                pass
            elif token in [16]:
                self.state = 616
                self.match(PtxParser.T__15)
                self.state = 623
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [53]:
                    self.state = 617
                    localctx.cast = self.match(PtxParser.DOTTED)
                    self.state = 618
                    self.match(PtxParser.T__16)
                    self.state = 619
                    localctx.casted = self.expressionTerm()
                    pass
                elif token in [13, 14, 16, 28, 35, 52, 54, 55, 56]:
                    self.state = 620
                    localctx.nested = self.expression()
                    self.state = 621
                    self.match(PtxParser.T__16)
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx





